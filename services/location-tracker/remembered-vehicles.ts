import type { Redis } from '@waybell/runtime/redis';
import { Unavailable } from '@waybell/runtime/unavailable';
import { type Vehicle, writeKey, type VehicleKey } from './vehicle.ts';

/** A vehicle as it was read, and the text it was parsed from; undefined if Redis does not know it. */
export type Remembered = { vehicle: Vehicle; text: string };

export type RememberedChange = { key: VehicleKey; from: Remembered | undefined; to: Vehicle };

/**
 * Vehicles in Redis: where they are, and what Postgres knows of them, so that most reports need no query. Throws `Unavailable`
 * while Redis is away: otherwise every position would look like a first one.
 */
export type RememberedVehicles = {
  read(keys: readonly VehicleKey[]): Promise<(Remembered | undefined)[]>;
  /** Makes the changes whose `from` is still current. Resolves with whether each was made. */
  change(changes: readonly RememberedChange[]): Promise<boolean[]>;
};

/** Ends with the version of the format: entries of other versions count as forgotten. */
const PREFIX = 'waybell:vehicle:1:';

const CHANGE = `
local made = {}
for place, key in ipairs(KEYS) do
  local same = (redis.call('GET', key) or '') == ARGV[2 * place]
  if same then redis.call('SET', key, ARGV[2 * place + 1], 'PX', ARGV[1]) end
  made[place] = same and 1 or 0
end
return made`;

export function rememberedVehiclesIn(redis: Redis, { rememberMs }: { rememberMs: number }): RememberedVehicles {
  return {
    async read(keys) {
      if (keys.length === 0) return [];
      const texts = await whenThere(redis, () => redis.mget(keys.map(redisKey)));
      return texts.map((text) => (text === null ? undefined : readVehicle(text)));
    },
    async change(changes) {
      if (changes.length === 0) return [];
      const args = changes.flatMap(({ from, to }) => [from?.text ?? '', writeVehicle(to, from?.text)]);
      const keys = changes.map(({ key }) => redisKey(key));
      const made = await whenThere(redis, () => redis.eval(CHANGE, keys.length, ...keys, rememberMs, ...args));
      return Array.isArray(made) ? made.map((one) => one === 1) : [];
    },
  };
}

async function whenThere<T>(redis: Redis, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Unavailable('redis', () => redis.set(`${PREFIX}probe`, '', 'PX', 1_000), error);
  }
}

function redisKey(key: VehicleKey): string {
  return PREFIX + writeKey(key);
}

const WORDS = 7;

/** Writes one short line, as Redis holds a million vehicles. Keeps what a later version appended to `before`. */
export function writeVehicle({ activity, track }: Vehicle, before = ''): string {
  const announced = track?.announced ?? null;
  return [
    track?.seenAt,
    announced?.latitude,
    announced?.longitude,
    announced?.report,
    activity?.notedAt,
    activity === null ? undefined : Number(activity.isActive),
    activity?.activatedBy,
    ...before.split(' ').slice(WORDS),
  ].join(' ');
}

export function readVehicle(text: string): Remembered {
  const [seenAt, latitude, longitude, report = '', notedAt, isActive, activatedBy = ''] = text.split(' ');
  const announced = report === '' ? null : { latitude: Number(latitude), longitude: Number(longitude), report };
  const track = seenAt === '' ? null : { seenAt: Number(seenAt), announced };
  const activity = activatedBy === '' ? null : { isActive: isActive === '1', notedAt: Number(notedAt), activatedBy };
  return { vehicle: { activity, track }, text };
}
