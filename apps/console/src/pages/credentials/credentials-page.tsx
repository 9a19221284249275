import { useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { root } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Moment } from '../../parts/values.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { PutDialog, RemoveDialog } from './credentials-dialogs.tsx';
import { callsOf, certificateEnd, type Credentials } from './credentials.ts';

type OpenDialog = { put: string } | { remove: Credentials };

/** Credentials of the client's callbacks, host by host, and where callbacks come from. */
export function CredentialsPage() {
  const isWriter = mayWrite(useSignedIn());
  const { host: wanted } = useSearch({ from: '/credentials' });
  const [dialog, setDialog] = useState<OpenDialog | undefined>(wanted === undefined ? undefined : { put: wanted });
  const credentials = useAnswer(['credentials'], ({ client }) => client.GET('/v1/credentials'));
  const close = () => setDialog(undefined);
  const tools = isWriter && (
    <button type="button" className="main" onClick={() => setDialog({ put: '' })}>
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
                        replace: () => setDialog({ put: each.host }),
                        remove: () => setDialog({ remove: each }),
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
      {isWriter && dialog !== undefined && 'put' in dialog && !credentials.isPending && (
        <PutDialog host={dialog.put} current={credentials.data?.objects ?? []} close={close} />
      )}
      {dialog !== undefined && 'remove' in dialog && <RemoveDialog credentials={dialog.remove} close={close} />}
    </Page>
  );
}

type CredentialsCardProps = {
  credentials: Credentials;
  /** Left out if the token may not change them. */
  replace?: () => void;
  remove?: () => void;
};

/** The public part of the credentials for a host. */
function CredentialsCard({ credentials, replace, remove }: CredentialsCardProps) {
  const { host, changed_at: changedAt } = credentials;
  return (
    <article className="card" aria-label={host}>
      <div className="line">
        <h2>
          <Foreign text={host} />
        </h2>
        <span className="tag">{callsOf(credentials)}</span>
        <span className="quietly">
          Changed <Moment at={changedAt} />
        </span>
      </div>
      <Kinds {...credentials} />
      {replace !== undefined && remove !== undefined && (
        <div className="tools">
          <button type="button" aria-label={`Replace credentials for ${host}`} onClick={replace}>
            Replace
          </button>
          <button type="button" className="danger" aria-label={`Remove credentials for ${host}`} onClick={remove}>
            Remove
          </button>
        </div>
      )}
    </article>
  );
}

function Kinds({ headers, basic, oauth2, certificate }: Credentials) {
  return (
    <dl className="headers">
      {headers !== null && (
        <CredentialsKind name="Headers">
          {headers.map((name) => (
            <div key={name}>
              <Foreign text={name} />
            </div>
          ))}
        </CredentialsKind>
      )}
      {basic !== null && (
        <CredentialsKind name="Basic">
          user <Foreign text={basic.username} />
        </CredentialsKind>
      )}
      {oauth2 !== null && (
        <CredentialsKind name="OAuth2">
          client <Foreign text={oauth2.client_id} /> at <Foreign text={oauth2.token_url} />
          {oauth2.scope !== undefined && (
            <div>
              scope <Foreign text={oauth2.scope} />
            </div>
          )}
          {oauth2.audience !== undefined && (
            <div>
              audience <Foreign text={oauth2.audience} />
            </div>
          )}
        </CredentialsKind>
      )}
      {certificate !== null && (
        <CredentialsKind name="Certificate">
          <CertificateEnd at={certificate.not_after} />
          <div>
            <Foreign text={certificate.subject} />, issued by <Foreign text={certificate.issuer} />
          </div>
          <div className="small">
            SHA-256 fingerprint <code>{certificate.fingerprint}</code>
          </div>
        </CredentialsKind>
      )}
    </dl>
  );
}

function CredentialsKind({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** When a certificate expires. */
function CertificateEnd({ at }: { at: string }) {
  const { isMarked, words, more } = certificateEnd(Date.parse(at) - useNow(false));
  return (
    <div className={isMarked ? 'bad' : ''}>
      {words}, <Moment at={at} />
      {more}
    </div>
  );
}

/** The addresses that callbacks come from, where the operator has set them. */
function SourceNetworks() {
  const answer = useAnswer(['source-networks'], ({ client }) => client.GET('/v1/source-networks'));
  const networks = answer.data?.networks ?? [];
  if (networks.length === 0) return null;
  return (
    <section className="part" aria-labelledby="source-networks">
      <h2 id="source-networks">Source networks</h2>
      <p>
        Callbacks come from these networks: allow them in your firewall. Details are on the{' '}
        <a href={new URL('docs/source-networks', root).href} target="_blank" rel="noreferrer">
          page for security teams
        </a>
        .
      </p>
      <ul>
        {networks.map((network) => (
          <li key={network}>
            <code>{network}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
