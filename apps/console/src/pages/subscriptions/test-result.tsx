import { Link } from '@tanstack/react-router';
import { Failed, Loading } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { isTaken } from './use-test.ts';
import type { TestOutcome } from './use-tests.ts';

/** How a test went, in a line that leads to its delivery; undefined while it is not answered. */
export function TestResult({ tested }: { tested: TestOutcome | undefined }) {
  if (tested === undefined) return <Loading what="the answer to the test" />;
  if (tested.kind === 'failed') return <Failed error={tested.error} />;
  const { guid, attempts } = tested.test;
  const { http_status: status, meaning } = attempts.at(-1) ?? {};
  return (
    <p className="line">
      <Status of={isTaken(tested.test) ? 'delivered' : 'refused'} />
      {status !== undefined && <code>HTTP {status}</code>}
      {meaning}
      <Link to="/deliveries/$guid" params={{ guid }}>
        Open delivery
      </Link>
    </p>
  );
}
