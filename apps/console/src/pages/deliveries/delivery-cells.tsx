import { Link } from '@tanstack/react-router';
import { Foreign } from '../../parts/text-block.tsx';
import type { ShownDelivery, ShownKey } from './listed-deliveries.ts';

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST = 2;

/** The delivery's action, and whether it is a test by hand. */
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

/** A key that links to everything that happened to its order, vehicle or offer. */
export function TimelineLink({ of: { kind, key } }: { of: ShownKey }) {
  return (
    <Link to="/timeline" search={{ key }} title={kind}>
      <ShortKey text={key} />
    </Link>
  );
}

const ShortKey = ({ text }: { text: string }) => <Foreign text={GUID.test(text) ? text.slice(0, 8) : text} />;

/** The keys by which people know an object: numbers and VINs; if it has none, its guid. */
export function namesOf(keys: readonly ShownKey[] = []): ShownKey[] {
  const names = keys.filter(({ key }) => !GUID.test(key));
  return names.length > 0 ? names.slice(0, MOST) : keys.slice(0, 1);
}
