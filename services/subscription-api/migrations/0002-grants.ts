import type { MigrationInterface, QueryRunner } from 'typeorm';

const ROLES = ['waybell_router', 'waybell_deliverer'] as const;

/** What event-router and deliverer may see: one view each, under a role of their own. */
export class Grants implements MigrationInterface {
  readonly name = 'Grants1795219200002';

  async up(database: QueryRunner): Promise<void> {
    for (const role of ROLES) await database.query(ensureRole(role));
    await database.query(FEATURE_GATE);
    await database.query(VIEWS);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop view waybell.delivery_targets, waybell.subscription_targets');
    await database.query('drop function waybell.needed_feature(text, text)');
    await database.query(`revoke usage on schema waybell from ${ROLES.join(', ')}`);
  }
}

/**
 * Creates a role without login where it is missing, and lets the current user take it on. Roles belong to the whole
 * server: another database's migration may have made it, or be making it at this moment.
 */
export function ensureRole(role: string): string {
  return `
do $$
begin
  begin
    if not exists (select from pg_catalog.pg_roles where rolname = '${role}') then create role ${role} nologin; end if;
  exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
      raise exception 'a superuser has to run first: create role ${role} nologin; grant ${role} to %', quote_ident(current_user);
  end;
  begin
    grant ${role} to current_user;
  exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
      if not pg_catalog.pg_has_role(current_user, '${role}', 'member') then
        raise exception 'a superuser has to run first: grant ${role} to %', quote_ident(current_user);
      end if;
  end;
end $$`;
}

const FEATURE_GATE = `
create function waybell.needed_feature(interface text, action text) returns text
language sql immutable parallel safe
return case
  when interface = 'shipper' and starts_with(action, 'insurance.') then 'insurance'
  when interface = 'shipper' and starts_with(action, 'servicepay') then 'servicepay'
end`;

const IS_FEATURE_ON = `
  (waybell.needed_feature(s.interface, s.action) is null
   or waybell.needed_feature(s.interface, s.action) = any (a.features))`;

const VIEWS = `
create view waybell.subscription_targets as
select s.interface, s.action, s.account_guid, s.client_id, s.guid as subscription_guid, s.generation, s.audit_field_set,
  ${IS_FEATURE_ON} as feature_on
from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid
where s.ended_at is null and s.is_active;

create view waybell.delivery_targets as
select s.guid as subscription_guid, s.generation,
  case when s.ended_at is not null then 'ended' when s.is_active then 'active' else 'deactivated' end as state,
  ${IS_FEATURE_ON} as feature_on,
  s.interface, s.action, s.account_guid, s.callback_url, s.verification_token_sealed, s.verification_token_key_id
from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid;

grant usage on schema waybell to waybell_router, waybell_deliverer;
grant select on waybell.subscription_targets to waybell_router;
grant select on waybell.delivery_targets to waybell_deliverer;`;
