import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensureRole } from './0002-grants.ts';

/** What location-tracker keeps, under a role of its own that sees nothing else. */
export class TrackedVehicles implements MigrationInterface {
  readonly name = 'TrackedVehicles1795219200004';

  async up(database: QueryRunner): Promise<void> {
    await database.query(ensureRole('waybell_tracker'));
    await database.query(TRACKED_VEHICLES);
    await database.query(GPS_DEACTIVATIONS);
    await database.query(`
      grant usage on schema waybell to waybell_tracker;
      grant select, insert, update, delete on waybell.tracked_vehicles, waybell.gps_deactivations to waybell_tracker;`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop table waybell.gps_deactivations, waybell.tracked_vehicles');
    await database.query('revoke usage on schema waybell from waybell_tracker');
  }
}

// No reference to accounts: most accounts that vehicles belong to never use the API. `last_seen_at` is coarse, and written
// while vehicles drive: room in each page for that.
const TRACKED_VEHICLES = `
create table waybell.tracked_vehicles (
  shipper_guid uuid not null,
  vehicle_guid uuid not null,
  is_active boolean not null,
  last_seen_at timestamptz not null,
  activated_by uuid not null,
  primary key (shipper_guid, vehicle_guid)
) with (fillfactor = 85);
-- What the sweep looks for: the active ones that were not seen for long.
create index tracked_vehicles_active on waybell.tracked_vehicles (last_seen_at) where is_active;
-- And those that are to be forgotten.
create index tracked_vehicles_inactive on waybell.tracked_vehicles (last_seen_at) where not is_active`;

/** Vehicles of a shipper that were switched off together, until that is announced. */
const GPS_DEACTIVATIONS = `
create table waybell.gps_deactivations (
  guid uuid primary key,
  shipper_guid uuid not null,
  vehicle_guids uuid[] not null,
  happened_at timestamptz not null,
  claimed_until timestamptz not null
)`;
