-- Who sees what. The service role (servers) sees everything. Signed-in people see the catalogue of roles, skills and
-- capabilities, their own profile and their own conversations; people who hire or analyse (listed in talent_staff, which
-- only the service role can write) see all profiles. Nobody sees anything without signing in.

create table public.talent_staff (
  user_id uuid primary key,
  talent_role text not null check (talent_role in ('hiring', 'analyst'))
);

create function public.may_see_all_profiles() returns boolean
language sql stable security definer set search_path = public as $$
  select exists (select 1 from talent_staff s where s.user_id = auth.uid())
$$;

do $$
declare name text;
begin
  foreach name in array array[
    'roles', 'skills', 'capabilities', 'capability_levels', 'capability_skills', 'role_skills', 'role_capabilities',
    'match_thresholds', 'profiles', 'profile_skills', 'profile_capabilities', 'conversation_sessions', 'chat_messages',
    'agent_actions', 'talent_staff'
  ] loop
    execute format('alter table public.%I enable row level security', name);
    execute format('revoke all on public.%I from anon', name);
    execute format('grant select on public.%I to authenticated', name);
    execute format('grant all on public.%I to service_role', name);
  end loop;
  foreach name in array array[
    'roles', 'skills', 'capabilities', 'capability_levels', 'capability_skills', 'role_skills', 'role_capabilities',
    'match_thresholds'
  ] loop
    execute format('create policy catalogue_for_signed_in on public.%I for select to authenticated using (true)', name);
  end loop;
end $$;

create policy own_entry on public.talent_staff for select to authenticated using (user_id = auth.uid());
create policy own_profile on public.profiles for select to authenticated
  using (user_id = auth.uid() or public.may_see_all_profiles());
-- What a profile may be seen by, its levels may be seen by: the inner query is under the policy above.
create policy own_skills on public.profile_skills for select to authenticated
  using (exists (select 1 from public.profiles p where p.id = profile_id));
create policy own_capabilities on public.profile_capabilities for select to authenticated
  using (exists (select 1 from public.profiles p where p.id = profile_id));

create policy own_sessions on public.conversation_sessions for all to authenticated
  using (user_id = auth.uid()) with check (user_id = auth.uid());
create policy own_messages on public.chat_messages for all to authenticated
  using (exists (select 1 from public.conversation_sessions s where s.id = session_id))
  with check (exists (select 1 from public.conversation_sessions s where s.id = session_id));
create policy own_actions on public.agent_actions for all to authenticated
  using (exists (select 1 from public.conversation_sessions s where s.id = session_id))
  with check (exists (select 1 from public.conversation_sessions s where s.id = session_id));
grant insert, update, delete on public.conversation_sessions, public.chat_messages, public.agent_actions to authenticated;

do $$
declare ours regprocedure;
begin
  for ours in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname in (
      'match_threshold', 'find_people', 'find_roles', 'match_roles_for_profile', 'match_profiles_for_role',
      'match_roles_for_role', 'match_skills_for_role', 'match_skills', 'match_chat_messages', 'may_see_all_profiles',
      'measure_match_thresholds', 'rows_to_embed', 'store_embeddings')
  loop
    execute format('revoke execute on function %s from public, anon, authenticated', ours);
    execute format('grant execute on function %s to service_role', ours);
    if ours::text !~ 'measure_match_thresholds|rows_to_embed|store_embeddings' then
      execute format('grant execute on function %s to authenticated', ours);
    end if;
  end loop;
end $$;
