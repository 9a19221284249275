import { Link } from '@tanstack/react-router';
import type { components } from '../../api/client-api.d.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Status } from '../../parts/status.tsx';
import { useSignedIn } from '../../session/session.ts';
import { TestResult } from './test-result.tsx';
import { useTests } from './use-tests.ts';

type SubscribeResult = components['schemas']['PutSubscription'];

/** The result of each action: its verification token, or why it was refused. A test can be sent to all at once. */
export function SubscribeResults({ results, close }: { results: readonly SubscribeResult[]; close: () => void }) {
  const { ask } = useSignedIn();
  const made = results.flatMap(({ subscription }) => (subscription === undefined ? [] : [subscription]));
  const tokens = made.flatMap(({ action, verification_token: token }) =>
    token === undefined ? [] : [[action, token] as const],
  );
  const { tested, hasBegun, send } = useTests(made.map(({ guid }) => guid));
  return (
    <div className="part">
      {tokens.length > 0 && (
        <p>
          Each subscription has its own verification token, sent as <code>X-Service-Verification-Token</code>. Compare
          it, or verify the signature
          {ask.actingFor === undefined && (
            <>
              {' '}
              by a <Link to="/secrets">signing secret</Link>
            </>
          )}
          .
        </p>
      )}
      <ul className="results">
        {results.map((result) => (
          <li key={result.action} aria-label={result.action}>
            <Result result={result} />
            {hasBegun && result.subscription !== undefined && (
              <TestResult tested={tested.get(result.subscription.guid)} />
            )}
          </li>
        ))}
      </ul>
      <div className="tools">
        {made.length > 0 && !hasBegun && (
          <button type="button" className="main" onClick={send}>
            {made.length > 1 ? `Send a test to all ${made.length}` : 'Send a test'}
          </button>
        )}
        {tokens.length > 1 && (
          <>
            <CopyButton text={JSON.stringify(Object.fromEntries(tokens), null, 2)} label="all as JSON" isNamed />
            <CopyButton text={tokens.map(inEnvironment).join('\n')} label="all as .env" isNamed />
          </>
        )}
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </div>
  );
}

/** Such as `WAYBELL_TOKEN_ORDER_CREATED=…`. */
const inEnvironment = ([action, token]: readonly [string, string]): string =>
  `WAYBELL_TOKEN_${action.toUpperCase().replaceAll(/\W/g, '_')}=${token}`;

function Result({ result: { action, result, subscription, problem } }: { result: SubscribeResult }) {
  const token = subscription?.verification_token;
  return (
    <>
      <div className="line">
        <strong>{action}</strong>
        <Status of={result} />
        {subscription?.is_active === false && <Status of="switched off" />}
      </div>
      {token !== undefined && (
        <p className="line">
          <code>{token}</code>
          <CopyButton text={token} label={`verification token of ${action}`} />
        </p>
      )}
      {problem !== undefined && <p>{problem.detail}</p>}
    </>
  );
}
