-- Matching by meaning (cosine similarity of vectors of one model) and by name (trigrams, so that a slip of the pen is
-- forgiven). How alike two texts look differs from model to model, so a threshold that nobody names is one that was
-- measured on the data for this model, and 0.7 until then.

create table public.match_thresholds (
  model text not null,
  pair text not null check (pair in ('profile_role', 'role_role', 'role_skill')),
  threshold double precision not null,
  primary key (model, pair)
);

create function public.match_threshold(for_model text, for_pair text) returns double precision
language sql stable set search_path = public, extensions as $$
  select coalesce((select threshold from match_thresholds where model = for_model and pair = for_pair), 0.7)
$$;

-- The upper quarter of what this model finds alike counts as a match. At most 200 rows of a kind are looked at.
create function public.measure_match_thresholds(for_model text) returns void
language sql set search_path = public, extensions as $$
  with some_profiles as (select embedding from profiles where embedding_model = for_model order by id limit 200),
  some_roles as (select id, embedding from roles where embedding_model = for_model order by id limit 200),
  some_skills as (select embedding from skills where embedding_model = for_model order by id limit 200),
  measured as (
    select 'profile_role' as pair, percentile_cont(0.75) within group (order by 1 - (p.embedding <=> r.embedding)) as threshold
      from some_profiles p cross join some_roles r
    union all
    select 'role_role', percentile_cont(0.75) within group (order by 1 - (a.embedding <=> b.embedding))
      from some_roles a join some_roles b on a.id < b.id
    union all
    select 'role_skill', percentile_cont(0.75) within group (order by 1 - (r.embedding <=> s.embedding))
      from some_roles r cross join some_skills s
  )
  insert into match_thresholds (model, pair, threshold)
    select for_model, pair, threshold from measured where threshold is not null
    on conflict (model, pair) do update set threshold = excluded.threshold
$$;

create function public.find_people(query text, max_results integer default 5)
returns table (id text, name text, headline text, current_role_id text, similarity double precision)
language sql stable set search_path = public, extensions as $$
  select p.id, p.name, p.headline, p.current_role_id,
    case when p.id = query or lower(p.name) = lower(query) then 1
      else greatest(similarity(p.name, query), 0.99 * word_similarity(query, p.name))::double precision end as similarity
  from profiles p
  where p.id = query or lower(p.name) = lower(query) or p.name % query or query <% p.name
  order by similarity desc, p.name, p.id
  limit least(greatest(max_results, 1), 50)
$$;

create function public.find_roles(query text, max_results integer default 5)
returns table (id text, title text, grade_band text, similarity double precision)
language sql stable set search_path = public, extensions as $$
  select r.id, r.title, r.grade_band,
    case when r.id = query or lower(r.title) = lower(query) then 1
      else greatest(similarity(r.title, query), 0.99 * word_similarity(query, r.title))::double precision end as similarity
  from roles r
  where r.id = query or lower(r.title) = lower(query) or r.title % query or query <% r.title
  order by similarity desc, r.title, r.id
  limit least(greatest(max_results, 1), 50)
$$;

create function public.match_roles_for_profile(profile_id text, min_similarity double precision default null, max_results integer default 20)
returns table (id text, similarity double precision, threshold double precision)
language sql stable set search_path = public, extensions as $$
  with wanted as (
    select embedding, embedding_model, coalesce(min_similarity, match_threshold(embedding_model, 'profile_role')) as threshold
    from profiles where profiles.id = profile_id
  )
  select r.id, 1 - (r.embedding <=> w.embedding), w.threshold
  from wanted w join roles r on r.embedding_model = w.embedding_model
  where 1 - (r.embedding <=> w.embedding) >= w.threshold
  order by r.embedding <=> w.embedding, r.id
  limit least(greatest(max_results, 1), 1000)
$$;

create function public.match_profiles_for_role(role_id text, min_similarity double precision default null, max_results integer default 20)
returns table (id text, similarity double precision, threshold double precision)
language sql stable set search_path = public, extensions as $$
  with wanted as (
    select embedding, embedding_model, coalesce(min_similarity, match_threshold(embedding_model, 'profile_role')) as threshold
    from roles where roles.id = role_id
  )
  select p.id, 1 - (p.embedding <=> w.embedding), w.threshold
  from wanted w join profiles p on p.embedding_model = w.embedding_model
  where 1 - (p.embedding <=> w.embedding) >= w.threshold
  order by p.embedding <=> w.embedding, p.id
  limit least(greatest(max_results, 1), 1000)
$$;

create function public.match_roles_for_role(role_id text, min_similarity double precision default null, max_results integer default 20)
returns table (id text, similarity double precision, threshold double precision)
language sql stable set search_path = public, extensions as $$
  with wanted as (
    select embedding, embedding_model, coalesce(min_similarity, match_threshold(embedding_model, 'role_role')) as threshold
    from roles where roles.id = role_id
  )
  select r.id, 1 - (r.embedding <=> w.embedding), w.threshold
  from wanted w join roles r on r.embedding_model = w.embedding_model and r.id <> role_id
  where 1 - (r.embedding <=> w.embedding) >= w.threshold
  order by r.embedding <=> w.embedding, r.id
  limit least(greatest(max_results, 1), 1000)
$$;

create function public.match_skills_for_role(role_id text, min_similarity double precision default null, max_results integer default 10)
returns table (id text, similarity double precision, threshold double precision)
language sql stable set search_path = public, extensions as $$
  with wanted as (
    select embedding, embedding_model, coalesce(min_similarity, match_threshold(embedding_model, 'role_skill')) as threshold
    from roles where roles.id = role_id
  )
  select s.id, 1 - (s.embedding <=> w.embedding), w.threshold
  from wanted w join skills s on s.embedding_model = w.embedding_model
  where 1 - (s.embedding <=> w.embedding) >= w.threshold
  order by s.embedding <=> w.embedding, s.id
  limit least(greatest(max_results, 1), 1000)
$$;

-- For a text that somebody typed: its vector comes with the model that made it, and meets only vectors of that model.
create function public.match_skills(query_embedding text, query_model text, min_similarity double precision default null, max_results integer default 10)
returns table (id text, similarity double precision, threshold double precision)
language sql stable set search_path = public, extensions as $$
  with wanted as (
    select query_embedding::vector as embedding, coalesce(min_similarity, match_threshold(query_model, 'role_skill')) as threshold
  )
  select s.id, 1 - (s.embedding <=> w.embedding), w.threshold
  from wanted w join skills s on s.embedding_model = query_model and s.embedding_dimensions = vector_dims(w.embedding)
  where 1 - (s.embedding <=> w.embedding) >= w.threshold
  order by s.embedding <=> w.embedding, s.id
  limit least(greatest(max_results, 1), 1000)
$$;

create function public.match_chat_messages(in_session text, query_embedding text, query_model text, min_similarity double precision default 0.75, max_results integer default 3)
returns table (id bigint, sender text, message text, similarity double precision, created_at timestamptz)
language sql stable set search_path = public, extensions as $$
  select m.id, m.sender, m.message, 1 - (m.embedding <=> query_embedding::vector), m.created_at
  from chat_messages m
  where m.session_id = in_session and m.embedding_model = query_model
    and m.embedding_dimensions = vector_dims(query_embedding::vector)
    and 1 - (m.embedding <=> query_embedding::vector) >= min_similarity
  order by m.embedding <=> query_embedding::vector, m.id
  limit least(greatest(max_results, 1), 1000)
$$;

-- What has no vector of this model yet, with the text that the vector is made of.
create function public.rows_to_embed(for_model text, max_rows integer default 64)
returns table (kind text, id text, embedding_text text)
language sql stable set search_path = public, extensions as $$
  select * from (
    select 'roles' as kind, r.id, r.embedding_text from roles r where r.embedding_model is distinct from for_model
    union all select 'profiles', p.id, p.embedding_text from profiles p where p.embedding_model is distinct from for_model
    union all select 'skills', s.id, s.embedding_text from skills s where s.embedding_model is distinct from for_model
    union all select 'capabilities', c.id, c.embedding_text from capabilities c where c.embedding_model is distinct from for_model
  ) waiting
  order by kind, id
  limit least(greatest(max_rows, 1), 1000)
$$;

-- Takes [{kind, id, embedding}] and says how many rows it changed.
create function public.store_embeddings(for_model text, embedded jsonb) returns integer
language plpgsql set search_path = public, extensions as $$
declare
  target text;
  changed integer;
  total integer := 0;
begin
  foreach target in array array['roles', 'profiles', 'skills', 'capabilities'] loop
    execute format(
      'update public.%I t set embedding = e.embedding::vector, embedding_model = $1,
         embedding_dimensions = vector_dims(e.embedding::vector)
       from jsonb_to_recordset($2) as e(kind text, id text, embedding text) where e.kind = $3 and t.id = e.id', target)
      using for_model, embedded, target;
    get diagnostics changed = row_count;
    total := total + changed;
  end loop;
  return total;
end $$;
