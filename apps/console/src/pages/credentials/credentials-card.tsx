import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { CertificateEnd } from './certificate-end.tsx';
import { callsOf, type Credentials } from './types.ts';

type CredentialsCardProps = {
  credentials: Credentials;
  /** Left out where the token may not change them. */
  replace?: () => void;
  remove?: () => void;
};

/** Credentials of callbacks to one host, as far as they are public. */
export function CredentialsCard({ credentials, replace, remove }: CredentialsCardProps) {
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
