import { Link } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import type { components } from '../../api/client-api.d.ts';
import { answerOf } from '../../api/create-api.ts';
import { Dialog, DialogTools } from '../../parts/dialog.tsx';
import { forgetting } from '../../parts/form.tsx';
import { Empty, Failed, Found, Loading } from '../../parts/states.tsx';
import { CopyButton } from '../../parts/text-block.tsx';
import { Status } from '../../parts/values.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { ActionChoice, AuditFields, CallbackUrlField } from './subscription-fields.tsx';
import {
  isAccepted,
  useOffered,
  useSubscriptionChange,
  useTests,
  type OfferedAction,
  type Subscription,
  type TestOutcome,
} from './subscriptions.ts';

type SubscribeButtonProps = {
  /** Undefined while they are not known. */
  current: readonly Subscription[] | undefined;
  /** An action to subscribe to: with it, the dialog is open from the start. */
  wanted?: string | undefined;
  /** Whether it is the main action of the page. */
  isMain: boolean;
};

/** Opens the dialog; nothing if the token may not change subscriptions. */
export function SubscribeButton({ current, wanted, isMain }: SubscribeButtonProps) {
  const session = useSignedIn();
  const [isOpen, setOpen] = useState(wanted !== undefined);
  if (!mayWrite(session)) return null;
  return (
    <>
      <button type="button" className={isMain ? 'main' : ''} onClick={() => setOpen(true)}>
        Subscribe
      </button>
      {isOpen && current !== undefined && (
        <SubscribeDialog action={wanted} current={current} close={() => setOpen(false)} />
      )}
    </>
  );
}

/** Shown to clients without a subscription: how to begin. */
export function NoSubscriptions() {
  return (
    <Empty>
      <p>
        <strong>No subscriptions yet.</strong> Subscribe to actions such as <code>order.created</code>: each event is
        sent to the URL of your receiver. The <Link to="/catalog">catalog</Link> has every action with an example.
      </p>
    </Empty>
  );
}

type SubscribeProps = { action?: string | undefined; current: readonly Subscription[]; close: () => void };

/** Subscribes to some actions at one URL, shows the result of each, and sends tests. */
function SubscribeDialog({ action, current, close }: SubscribeProps) {
  const offered = useOffered();
  // As it was opened: what is subscribed to here must not appear as subscribed before.
  const [before] = useState(current);
  return (
    <Dialog title="Subscribe" close={close}>
      <Found of={offered} what="the actions">
        {(actions) => <SubscribeForm actions={actions} wanted={action} current={before} close={close} />}
      </Found>
    </Dialog>
  );
}

type FormProps = Omit<SubscribeProps, 'action'> & { actions: readonly OfferedAction[]; wanted: string | undefined };

function SubscribeForm({ actions, wanted, current, close }: FormProps) {
  const [chosen, setChosen] = useState<readonly string[]>(wanted === undefined ? [] : [wanted]);
  const [callbackUrl, setCallbackUrl] = useState(() => usualUrlOf(current));
  const [fields, setFields] = useState<string[]>();
  const { api } = useSignedIn();
  const names = auditFieldsOf(actions.filter(({ action }) => chosen.includes(action)));
  const replaced = current.filter(({ action }) => chosen.includes(action));
  const subscribe = useSubscriptionChange(() =>
    answerOf(
      api.client.PUT('/v1/subscriptions', {
        body: {
          callback_url: callbackUrl,
          actions: [...chosen],
          ...(fields !== undefined && { audit_field_set: fields.filter((each) => names.includes(each)) }),
        },
      }),
    ),
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    subscribe.mutate();
  };
  if (subscribe.data !== undefined) return <SubscribeResults results={subscribe.data.objects} close={close} />;
  return (
    <form onSubmit={submit} {...forgetting(subscribe)}>
      <ActionChoice
        actions={actions}
        chosen={chosen}
        choose={setChosen}
        subscribed={current.map(({ action }) => action)}
      />
      <CallbackUrlField value={callbackUrl} change={setCallbackUrl} />
      {names.length > 0 && <AuditFields names={names} chosen={fields} choose={setFields} />}
      {replaced.length > 0 && (
        <p className="small">
          {replaced.length} of these exist already: they move to this URL and keep their verification tokens.
        </p>
      )}
      {subscribe.error !== null && <Failed error={subscribe.error} />}
      <DialogTools
        does={chosen.length > 1 ? `Subscribe to ${chosen.length}` : 'Subscribe'}
        isPending={subscribe.isPending || chosen.length === 0}
        close={close}
      />
    </form>
  );
}

/** The URL of most subscriptions; of several such URLs, that of the newest subscription; empty without any. */
function usualUrlOf(current: readonly Subscription[]): string {
  const byUrl = Object.values(Object.groupBy(current, ({ callback_url: url }) => url)).flatMap((same = []) => {
    const [newest] = same
      .map(({ created_at: at }) => at)
      .toSorted()
      .toReversed();
    return newest === undefined ? [] : [{ url: same[0]?.callback_url ?? '', count: same.length, newest }];
  });
  const [usual] = byUrl.toSorted((a, b) => b.count - a.count || b.newest.localeCompare(a.newest));
  return usual?.url ?? '';
}

/** The fields of which some of the actions have old and new values. */
const auditFieldsOf = (actions: readonly OfferedAction[]): string[] => [
  ...new Set(actions.flatMap(({ audit_fields: fields = [] }) => fields)),
];

type SubscribeResult = components['schemas']['PutSubscription'];

/** The result of each action: its verification token, or why it was refused. A test can be sent to all at once. */
function SubscribeResults({ results, close }: { results: readonly SubscribeResult[]; close: () => void }) {
  const { api } = useSignedIn();
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
          {api.actingFor === undefined && (
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

/** The outcome of a test, with a link to its delivery; undefined while the receiver has not answered. */
function TestResult({ tested }: { tested: TestOutcome | undefined }) {
  if (tested === undefined) return <Loading what="the answer to the test" />;
  if (tested.kind === 'failed') return <Failed error={tested.error} />;
  const { guid, attempts } = tested.test;
  const { http_status: status, meaning } = attempts.at(-1) ?? {};
  return (
    <p className="line">
      <Status of={isAccepted(tested.test) ? 'delivered' : 'refused'} />
      {status !== undefined && <code>HTTP {status}</code>}
      {meaning}
      <Link to="/deliveries/$guid" params={{ guid }}>
        Open delivery
      </Link>
    </p>
  );
}
