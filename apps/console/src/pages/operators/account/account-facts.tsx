import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { told } from '../../../api/ask.ts';
import { forgetting } from '../../../parts/faults.tsx';
import { useTell } from '../../../parts/notices.tsx';
import { Failed } from '../../../parts/states.tsx';
import { useSignedIn } from '../../../session/session.ts';
import { FeatureChoice } from '../feature-choice.tsx';
import { FEATURES, type Account } from '../types.ts';

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

type Update = {
  name?: string | null;
  add_features?: Account['features'];
  remove_features?: Account['features'];
};

function useUpdate({ guid }: Account) {
  const { ask } = useSignedIn();
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: (body: Update) =>
      told(ask.operator.PATCH('/v1/admin/accounts/{guid}', { params: { path: { guid } }, body })),
    onSuccess: async (account) => {
      tell('Account saved.');
      queries.setQueryData(['account', guid], account);
      await queries.invalidateQueries({ queryKey: ['accounts'] });
    },
  });
}
