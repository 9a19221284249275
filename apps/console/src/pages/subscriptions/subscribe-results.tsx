import type { components } from '../../api/client-api.d.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Status } from '../../parts/status.tsx';

type SubscribeResult = components['schemas']['PutSubscription'];

/** What came of each action: its verification token, or why it was refused. */
export function SubscribeResults({ results, close }: { results: readonly SubscribeResult[]; close: () => void }) {
  return (
    <div className="part">
      <p>
        Each subscription has a verification token of its own. Let your receiver compare{' '}
        <code>X-Service-Verification-Token</code> with it, or check the signature alone.
      </p>
      <ul className="results">
        {results.map((result) => (
          <li key={result.action}>
            <Result result={result} />
          </li>
        ))}
      </ul>
      <div className="tools">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </div>
  );
}

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
