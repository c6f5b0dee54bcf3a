-- People, roles, skills and capabilities, and what the agent keeps of its conversations.
-- Levels run from 1 (foundation) to 5 (expert). Ids are text, so that a readable id is as good as a generated one.
-- A vector is kept with the model that made it and its length: vectors of two models are never compared.

create schema if not exists extensions;
create extension if not exists vector with schema extensions;
create extension if not exists pg_trgm with schema extensions;
grant usage on schema extensions to anon, authenticated, service_role;

create table public.roles (
  id text primary key default gen_random_uuid()::text,
  title text not null unique,
  grade_band text not null check (grade_band ~ '^G[1-9]$'),
  division text not null,
  location text not null,
  primary_purpose text not null,
  embedding_text text generated always as (title || '. ' || primary_purpose) stored,
  embedding extensions.vector,
  embedding_model text,
  embedding_dimensions integer,
  created_at timestamptz not null default now()
);

create table public.profiles (
  id text primary key default gen_random_uuid()::text,
  user_id uuid unique,
  name text not null,
  headline text not null default '',
  current_role_id text references public.roles (id) on delete set null,
  location text not null default '',
  years_experience integer not null default 0 check (years_experience between 0 and 80),
  summary text not null default '',
  embedding_text text generated always as (headline || '. ' || summary) stored,
  embedding extensions.vector,
  embedding_model text,
  embedding_dimensions integer,
  created_at timestamptz not null default now()
);

create table public.skills (
  id text primary key default gen_random_uuid()::text,
  name text not null unique,
  category text not null,
  description text not null default '',
  embedding_text text generated always as (name || '. ' || description) stored,
  embedding extensions.vector,
  embedding_model text,
  embedding_dimensions integer
);

create table public.capabilities (
  id text primary key default gen_random_uuid()::text,
  name text not null unique,
  group_name text not null,
  description text not null default '',
  embedding_text text generated always as (name || '. ' || description) stored,
  embedding extensions.vector,
  embedding_model text,
  embedding_dimensions integer
);

create table public.capability_levels (
  capability_id text not null references public.capabilities (id) on delete cascade,
  level integer not null check (level between 1 and 5),
  label text not null,
  indicator text not null,
  primary key (capability_id, level)
);

-- Which skills build a capability.
create table public.capability_skills (
  capability_id text not null references public.capabilities (id) on delete cascade,
  skill_id text not null references public.skills (id) on delete cascade,
  primary key (capability_id, skill_id)
);

create table public.profile_skills (
  profile_id text not null references public.profiles (id) on delete cascade,
  skill_id text not null references public.skills (id) on delete cascade,
  level integer not null check (level between 1 and 5),
  evidence text,
  primary key (profile_id, skill_id)
);

create table public.profile_capabilities (
  profile_id text not null references public.profiles (id) on delete cascade,
  capability_id text not null references public.capabilities (id) on delete cascade,
  level integer not null check (level between 1 and 5),
  evidence text,
  primary key (profile_id, capability_id)
);

-- What a role asks for; Intermediate unless it says otherwise.
create table public.role_skills (
  role_id text not null references public.roles (id) on delete cascade,
  skill_id text not null references public.skills (id) on delete cascade,
  level integer not null default 2 check (level between 1 and 5),
  primary key (role_id, skill_id)
);

create table public.role_capabilities (
  role_id text not null references public.roles (id) on delete cascade,
  capability_id text not null references public.capabilities (id) on delete cascade,
  level integer not null default 2 check (level between 1 and 5),
  primary key (role_id, capability_id)
);

create table public.conversation_sessions (
  id text primary key default gen_random_uuid()::text,
  user_id uuid default auth.uid(),
  mode text not null default 'general' check (mode in ('analyst', 'candidate', 'hiring', 'general')),
  entity_id text,
  status text not null default 'active' check (status in ('active', 'completed', 'abandoned')),
  summary text,
  browser_session_id text,
  created_at timestamptz not null default now()
);

create table public.chat_messages (
  id bigint generated always as identity primary key,
  session_id text not null references public.conversation_sessions (id) on delete cascade,
  sender text not null check (sender in ('user', 'assistant')),
  message text not null,
  tool_call jsonb,
  embedding extensions.vector,
  embedding_model text,
  embedding_dimensions integer,
  created_at timestamptz not null default now()
);

create table public.agent_actions (
  id bigint generated always as identity primary key,
  session_id text references public.conversation_sessions (id) on delete cascade,
  agent_name text not null,
  action_type text not null,
  target_type text,
  target_id text,
  request jsonb not null default '{}',
  request_hash text,
  response jsonb,
  outcome text not null check (outcome in ('success', 'failure')),
  confidence_score double precision check (confidence_score between 0 and 1),
  step_index integer,
  embedding extensions.vector,
  embedding_model text,
  embedding_dimensions integer,
  created_at timestamptz not null default now()
);

create index on public.profiles (current_role_id);
create index on public.profile_skills (skill_id);
create index on public.profile_capabilities (capability_id);
create index on public.role_skills (skill_id);
create index on public.role_capabilities (capability_id);
create index on public.capability_skills (skill_id);
create index on public.chat_messages (session_id, id);
create index on public.agent_actions (session_id, action_type, request_hash);
create index on public.profiles using gin (name extensions.gin_trgm_ops);
create index on public.roles using gin (title extensions.gin_trgm_ops);

-- A vector, its model and its length come and go together; a text that changes loses the vector of the old one.
create function public.forget_embedding() returns trigger language plpgsql as $$
begin
  new.embedding := null;
  new.embedding_model := null;
  new.embedding_dimensions := null;
  return new;
end $$;

do $$
declare embedded text;
begin
  foreach embedded in array array['roles', 'profiles', 'skills', 'capabilities', 'chat_messages', 'agent_actions'] loop
    execute format(
      'alter table public.%I add constraint %I check (
         (embedding is null and embedding_model is null and embedding_dimensions is null) or
         (embedding is not null and embedding_model is not null and extensions.vector_dims(embedding) = embedding_dimensions))',
      embedded, embedded || '_embedding_whole');
  end loop;
end $$;

create trigger forget_embedding before update of title, primary_purpose on public.roles
  for each row when (old.title is distinct from new.title or old.primary_purpose is distinct from new.primary_purpose)
  execute function public.forget_embedding();
create trigger forget_embedding before update of headline, summary on public.profiles
  for each row when (old.headline is distinct from new.headline or old.summary is distinct from new.summary)
  execute function public.forget_embedding();
create trigger forget_embedding before update of name, description on public.skills
  for each row when (old.name is distinct from new.name or old.description is distinct from new.description)
  execute function public.forget_embedding();
create trigger forget_embedding before update of name, description on public.capabilities
  for each row when (old.name is distinct from new.name or old.description is distinct from new.description)
  execute function public.forget_embedding();
