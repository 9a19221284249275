import { useState, type ReactNode } from 'react';
import { BasicFields, OAuth2Fields } from './authorization-fields.tsx';
import { CertificateFields } from './certificate-fields.tsx';
import { Faults } from '../../parts/faults.tsx';
import { HeaderFields } from './header-fields.tsx';
import { KINDS, KIND_NAMES, type Credentials, type CredentialsKind } from './types.ts';

type SectionsProps = {
  kinds: readonly CredentialsKind[];
  choose: (kinds: readonly CredentialsKind[]) => void;
  before: Credentials | undefined;
};

/** A request has one of them. */
const RIVALS: Readonly<Partial<Record<CredentialsKind, CredentialsKind>>> = { basic: 'oauth2', oauth2: 'basic' };

/** Gives the focus to an element that comes in place of the one that had it, or to its first field. */
const focusOn = (element: HTMLElement | null) =>
  (element?.querySelector<HTMLElement>('input, textarea') ?? element)?.focus();

/** The fields of each kind of credentials that was added, and the buttons that add another. */
export function KindSections({ kinds, choose, before }: SectionsProps) {
  const [changed, setChanged] = useState<CredentialsKind>();
  const change = (kind: CredentialsKind, next: readonly CredentialsKind[]) => {
    setChanged(kind);
    choose(next);
  };
  const fields: Record<CredentialsKind, ReactNode> = {
    headers: <HeaderFields names={before?.headers ?? ['']} />,
    basic: <BasicFields before={before?.basic ?? undefined} />,
    oauth2: <OAuth2Fields before={before?.oauth2 ?? undefined} />,
    certificate: <CertificateFields />,
  };
  const addable = KINDS.filter((kind) => !kinds.includes(kind) && !kinds.some((each) => RIVALS[each] === kind));
  return (
    <>
      {KINDS.filter((kind) => kinds.includes(kind)).map((kind) => (
        <fieldset key={kind} ref={kind === changed ? focusOn : null}>
          <legend>{KIND_NAMES[kind]}</legend>
          {fields[kind]}
          <Faults at={`#/${kind}`} />
          <div className="tools">
            <button
              type="button"
              aria-label={`Remove ${KIND_NAMES[kind]}`}
              onClick={() =>
                change(
                  kind,
                  kinds.filter((each) => each !== kind),
                )
              }
            >
              Remove
            </button>
          </div>
        </fieldset>
      ))}
      <div className="tools">
        {addable.map((kind) => (
          <button
            key={kind}
            ref={kind === changed ? focusOn : null}
            type="button"
            onClick={() => change(kind, [...kinds, kind])}
          >
            Add {KIND_NAMES[kind]}
          </button>
        ))}
      </div>
    </>
  );
}
