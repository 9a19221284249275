import { Link } from '@tanstack/react-router';
import { Foreign } from '../../parts/text-block.tsx';
import type { ShownDelivery, ShownKey } from './listed-deliveries.ts';

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST = 2;

/** The delivery's action; a test by hand is none of the platform's events. */
export function ActionOf({ delivery: { action, attempts } }: { delivery: Pick<ShownDelivery, 'action' | 'attempts'> }) {
  const isTest = attempts[0]?.by_hand === 'test';
  return (
    <>
      {action} {isTest && <span className="tag">test</span>}
    </>
  );
}

/** The delivery's keys, abbreviated. */
export function KeyNames({ keys }: { keys: readonly ShownKey[] | undefined }) {
  const names = namesOf(keys);
  if (names.length === 0) return '–';
  return names.map(({ kind, key }) => (
    <span key={`${kind} ${key}`} className="key" title={`${kind}: ${key}`}>
      <ShortKey text={key} />
    </span>
  ));
}

/** Leads a client to everything about an order, a vehicle, an offer. */
export function TimelineLink({ of: { kind, key } }: { of: ShownKey }) {
  return (
    <Link to="/timeline" search={{ key }} title={kind}>
      <ShortKey text={key} />
    </Link>
  );
}

const ShortKey = ({ text }: { text: string }) => <Foreign text={GUID.test(text) ? text.slice(0, 8) : text} />;

/** The names by which people know what it is about: numbers and VINs; where it has none, the beginning of a guid. */
export function namesOf(keys: readonly ShownKey[] = []): ShownKey[] {
  const names = keys.filter(({ key }) => !GUID.test(key));
  return names.length > 0 ? names.slice(0, MOST) : keys.slice(0, 1);
}
