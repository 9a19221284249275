import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTold } from '../../api/use-told.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { CredentialsCard } from './credentials-card.tsx';
import { PutDialog } from './put-dialog.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { SourceNetworks } from './source-networks.tsx';
import type { Credentials } from './types.ts';

type Asking = { put: string } | { remove: Credentials };

/** Credentials of the client's callbacks, host by host, and where callbacks come from. */
export function CredentialsPage() {
  const isWriter = mayWrite(useSignedIn());
  const { host: wanted } = useSearch({ from: '/credentials' });
  const [asking, setAsking] = useState<Asking | undefined>(wanted === undefined ? undefined : { put: wanted });
  const credentials = useTold(['credentials'], ({ client }) => client.GET('/v1/credentials'));
  const close = () => setAsking(undefined);
  const tools = isWriter && (
    <button type="button" className="main" onClick={() => setAsking({ put: '' })}>
      Add credentials
    </button>
  );
  return (
    <Page title="Credentials" tools={tools}>
      <section className="part" aria-label="Credentials by host">
        <p>Sent with callbacks to a receiver, or a gateway in front of it, that asks for authentication.</p>
        <Found of={credentials} what="the credentials">
          {({ objects }) =>
            objects.length === 0 ? (
              <Empty>
                <p>No credentials yet. Callbacks are signed: add credentials only if your receiver asks for them.</p>
              </Empty>
            ) : (
              <ul className="cards">
                {objects.map((each) => (
                  <li key={each.host}>
                    <CredentialsCard
                      credentials={each}
                      {...(isWriter && {
                        replace: () => setAsking({ put: each.host }),
                        remove: () => setAsking({ remove: each }),
                      })}
                    />
                  </li>
                ))}
              </ul>
            )
          }
        </Found>
      </section>
      <SourceNetworks />
      {isWriter && asking !== undefined && 'put' in asking && !credentials.isPending && (
        <PutDialog host={asking.put} current={credentials.data?.objects ?? []} close={close} />
      )}
      {asking !== undefined && 'remove' in asking && <RemoveDialog credentials={asking.remove} close={close} />}
    </Page>
  );
}
