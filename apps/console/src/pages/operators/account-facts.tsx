import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Dialog, DialogTools } from '../../parts/dialog.tsx';
import { forgetting } from '../../parts/form.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Failed, Found } from '../../parts/states.tsx';
import { Moment } from '../../parts/values.tsx';
import { useSignedIn } from '../../session/session.ts';
import { FEATURES, type Account, type AccountClosing, type Feature } from './types.ts';

/** The name and the features of an account, which can be changed. */
export function AccountFacts({ account }: { account: Account }) {
  const [name, setName] = useState(account.name ?? '');
  const [features, setFeatures] = useState<readonly Account['features'][number][]>(account.features);
  const update = useUpdate(account);
  const added = features.filter((feature) => !account.features.includes(feature));
  const removed = account.features.filter((feature) => !features.includes(feature));
  const isRenamed = name.trim() !== (account.name ?? '');
  const isChanged = isRenamed || added.length > 0 || removed.length > 0;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    update.mutate({
      ...(isRenamed && { name: name.trim() === '' ? null : name.trim() }),
      ...(added.length > 0 && { add_features: added }),
      ...(removed.length > 0 && { remove_features: removed }),
    });
  };
  return (
    <section className="part card" aria-labelledby="account-facts">
      <h2 id="account-facts">Name and features</h2>
      <form className="stack" onSubmit={submit} {...forgetting(update)}>
        <label>
          Name
          <br />
          <input value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
        </label>
        <FeatureChoice chosen={FEATURES.filter((each) => features.includes(each))} choose={setFeatures} />
        {removed.length > 0 && (
          <p className="small">Subscriptions stay. Nothing is sent for them while their feature is off.</p>
        )}
        {update.error !== null && <Failed error={update.error} />}
        <div className="tools">
          <button type="submit" disabled={!isChanged || update.isPending}>
            {update.isPending ? 'Saving …' : 'Save'}
          </button>
        </div>
      </form>
    </section>
  );
}

/** The features of an account. */
export function FeatureChoice({
  chosen,
  choose,
}: {
  chosen: readonly Feature[];
  choose: (features: readonly Feature[]) => void;
}) {
  return (
    <fieldset>
      <legend>Features</legend>
      {FEATURES.map((feature) => (
        <label key={feature} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(feature)}
            onChange={({ target }) =>
              choose(target.checked ? [...chosen, feature] : chosen.filter((each) => each !== feature))
            }
          />
          {feature}
        </label>
      ))}
    </fieldset>
  );
}

type Update = {
  name?: string | null;
  add_features?: Account['features'];
  remove_features?: Account['features'];
};

function useUpdate({ guid }: Account) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const notify = useNotify();
  return useMutation({
    mutationFn: (body: Update) =>
      answerOf(api.operator.PATCH('/v1/admin/accounts/{guid}', { params: { path: { guid } }, body })),
    onSuccess: async (account) => {
      notify('Account saved.');
      queries.setQueryData(['account', guid], account);
      await queries.invalidateQueries({ queryKey: ['accounts'] });
    },
  });
}

/** Closes an account, with everything that belongs to it, or opens it again. */
export function AccountEnd({ account }: { account: Account }) {
  const [isConfirming, setConfirming] = useState(false);
  const change = useEnd(account);
  return (
    <section className="part card" aria-labelledby="account-end">
      <h2 id="account-end">{account.closed_at === null ? 'Close the account' : 'Closed'}</h2>
      {account.closed_at === null ? (
        <div className="tools">
          <button type="button" className="danger" onClick={() => setConfirming(true)}>
            Close account
          </button>
        </div>
      ) : (
        <>
          <p>
            Since <Moment at={account.closed_at} />. What ended with it stays ended when it is opened again.
          </p>
          {change.error !== null && <Failed error={change.error} />}
          <div className="tools">
            <button type="button" disabled={change.isPending} onClick={() => change.mutate('open')}>
              Open account
            </button>
          </div>
        </>
      )}
      {isConfirming && <CloseDialog account={account} close={() => setConfirming(false)} />}
    </section>
  );
}

/** Names in the API of all that ends with an account. */
const ENDS = {
  subscriptions: 'Subscriptions',
  waiting: 'Waiting deliveries, dropped',
  tokens: 'Access tokens',
  console_links: 'Console links and sign-ins',
  credentials: 'Hosts with credentials',
  signing_secrets: 'Signing secrets',
  listeners: 'Listeners',
} as const satisfies Record<Exclude<keyof AccountClosing, 'account'>, string>;

function CloseDialog({ account, close }: { account: Account; close: () => void }) {
  const { guid } = account;
  const ends = useAnswer(['closing', guid], ({ operator }) =>
    operator.POST('/v1/admin/accounts/{guid}/close', { params: { path: { guid } }, body: { dry_run: true } }),
  );
  const change = useEnd(account, close);
  return (
    <Dialog title="Close the account?" close={close}>
      <p>Ends at once, and cannot be taken back. The delivery log and the audit log stay.</p>
      <Found of={ends} what="what would end">
        {(found) => (
          <ul>
            {Object.entries(ENDS).map(([kind, words]) => (
              <li key={kind}>
                {words}: <strong>{found[kind as keyof typeof ENDS].toLocaleString()}</strong>
              </li>
            ))}
          </ul>
        )}
      </Found>
      {change.error !== null && <Failed error={change.error} />}
      <DialogTools
        isDangerous
        does="Close account"
        isPending={change.isPending || ends.data === undefined}
        close={close}
        onClick={() => change.mutate('close')}
      />
    </Dialog>
  );
}

function useEnd({ guid }: Account, onDone?: () => void) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const params = { path: { guid } };
  return useMutation({
    mutationFn: async (to: 'close' | 'open') =>
      to === 'open'
        ? answerOf(api.operator.POST('/v1/admin/accounts/{guid}/open', { params }))
        : answerOf(api.operator.POST('/v1/admin/accounts/{guid}/close', { params, body: { dry_run: false } })),
    onSuccess: async () => {
      onDone?.();
      await queries.invalidateQueries();
    },
  });
}
