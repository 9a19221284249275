import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FaultsOf, forgetting } from '../../parts/faults.tsx';
import { Field } from '../../parts/field.tsx';
import { useTell } from '../../parts/notices.tsx';
import { useSignedIn } from '../../session/session.ts';
import { FeatureChoice } from './feature-choice.tsx';
import type { Account, Feature } from './types.ts';

/** Asks for what an account is to be, creates it, and leads to it. */
export function CreateAccountDialog({ close }: { close: () => void }) {
  const [through, setThrough] = useState<Account['interface']>('shipper');
  const [name, setName] = useState('');
  const [guid, setGuid] = useState('');
  const [features, setFeatures] = useState<readonly Feature[]>([]);
  const create = useCreate();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    create.mutate({
      interface: through,
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(guid.trim() !== '' && { guid: guid.trim().toLowerCase() }),
      features: [...features],
    });
  };
  return (
    <Dialog title="Create account" close={close}>
      <form onSubmit={submit} {...forgetting(create)}>
        <fieldset>
          <legend>Interface</legend>
          {(['shipper', 'carrier'] as const).map((each) => (
            <label key={each} className="choice">
              <input type="radio" name="interface" checked={through === each} onChange={() => setThrough(each)} />
              {each}
              {each === 'shipper' && <span className="small">also for brokers</span>}
            </label>
          ))}
        </fieldset>
        <FaultsOf error={create.error}>
          <Field
            at="#/name"
            label="Name"
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <Field
            at="#/guid"
            label="Guid"
            value={guid}
            placeholder="Generated if empty"
            onChange={(event) => setGuid(event.target.value)}
          />
        </FaultsOf>
        <FeatureChoice chosen={features} choose={setFeatures} />
        <div className="tools">
          <button type="submit" className="main" disabled={create.isPending}>
            {create.isPending ? 'Creating …' : 'Create'}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type AccountForm = { interface: Account['interface']; name?: string; guid?: string; features: Feature[] };

function useCreate() {
  const { ask } = useSignedIn();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const tell = useTell();
  return useMutation({
    mutationFn: (body: AccountForm) => told(ask.operator.POST('/v1/admin/accounts', { body })),
    onSuccess: async ({ guid }) => {
      tell('Account created.');
      void queries.invalidateQueries({ queryKey: ['accounts'] });
      await navigate({ to: '/accounts/$guid', params: { guid } });
    },
  });
}
