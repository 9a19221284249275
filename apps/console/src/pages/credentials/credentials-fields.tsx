import { useRef, useState, type ChangeEvent, type ReactNode, type RefObject } from 'react';
import { Faults, Field, pointerOf, useFaultMarks } from '../../parts/form.tsx';
import { KIND_NAMES, KINDS, type Credentials, type CredentialsKind, type GivenCredentials } from './credentials.ts';

/**
 * The fields of credentials and what is read from them. The name of a field is where its value belongs in the request, as a pointer.
 * Headers are the exception: the name of each, then its value, under the same two field names.
 */
const HEADER_NAME = 'header-name';
const HEADER_VALUE = 'header-value';
const PASSWORD = '#/basic/password';

/** Kinds that a request cannot have both. */
const RIVALS: Readonly<Partial<Record<CredentialsKind, CredentialsKind>>> = { basic: 'oauth2', oauth2: 'basic' };

type SectionsProps = {
  kinds: readonly CredentialsKind[];
  choose: (kinds: readonly CredentialsKind[]) => void;
  before: Credentials | undefined;
};

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

/** Focuses an element that replaced the focused one, or its first field. */
const focusOn = (element: HTMLElement | null) =>
  (element?.querySelector<HTMLElement>('input, textarea') ?? element)?.focus();

/** Reads the credentials from the fields of a form, as the API expects them. */
export function credentialsIn(form: HTMLFormElement | null): GivenCredentials {
  const body: Record<string, Record<string, string>> = {};
  let header = '';
  for (const [at, value] of new FormData(form ?? undefined)) {
    if (typeof value !== 'string') continue;
    const [root, kind = '', member = ''] = at.split('/');
    // Only a password may be empty: any other empty field is left out.
    const isGiven = root === '#' && (value !== '' || at === PASSWORD);
    if (at === HEADER_NAME) header = value.trim();
    else if (at === HEADER_VALUE) (body['headers'] ??= {})[header] = value;
    else if (isGiven) (body[kind] ??= {})[member] = value;
  }
  return body;
}

const MOST_HEADERS = 5;

/** The headers, a row each. Their values are in the fields alone, never in the state of the page. */
function HeaderFields({ names }: { names: readonly string[] }) {
  const [rows, setRows] = useState(() => names.map((name, key) => ({ key, name })));
  const add = () => setRows([...rows, { key: 1 + Math.max(...rows.map(({ key }) => key)), name: '' }]);
  /** Whether two headers have this name: the API takes an object, which has it once. */
  const isTwice = (name: string) => rows.filter((row) => normalized(row.name) === normalized(name)).length > 1;
  return (
    <>
      {rows.map((row, place) => (
        <HeaderRow
          key={row.key}
          place={place + 1}
          name={row.name}
          isTwice={isTwice(row.name)}
          rename={(name) => setRows(rows.map((each) => (each === row ? { ...row, name } : each)))}
          {...(rows.length > 1 && { leaveOut: () => setRows(rows.filter((each) => each !== row)) })}
        />
      ))}
      {rows.length < MOST_HEADERS && (
        <div className="tools">
          <button type="button" onClick={add}>
            Add header
          </button>
        </div>
      )}
    </>
  );
}

const normalized = (name: string): string => name.trim().toLowerCase();

type RowProps = {
  /** From 1. */
  place: number;
  name: string;
  isTwice: boolean;
  rename: (name: string) => void;
  leaveOut?: () => void;
};

/** A header's name and value, with the faults that the API found in them. */
function HeaderRow({ place, name, isTwice, rename, leaveOut }: RowProps) {
  const at = pointerOf('headers', name.trim());
  const { id, marks } = useFaultMarks(at);
  return (
    <div className="header-row" role="group" aria-label={`Header ${place}`}>
      <label>
        Name
        <input
          ref={(input) => input?.setCustomValidity(isTwice ? 'Another header has this name.' : '')}
          name={HEADER_NAME}
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="X-Api-Key"
          value={name}
          onChange={({ target }) => rename(target.value)}
          {...marks}
        />
      </label>
      <label>
        Value
        <input name={HEADER_VALUE} type="password" required autoComplete="off" {...marks} />
      </label>
      {leaveOut !== undefined && (
        <button type="button" aria-label={`Remove header ${place}`} onClick={leaveOut}>
          ✕
        </button>
      )}
      <Faults at={at} id={id} />
    </div>
  );
}

function BasicFields({ before }: { before: NonNullable<Credentials['basic']> | undefined }) {
  return (
    <>
      <Field at="#/basic/username" label="User name" required defaultValue={before?.username} />
      <Field at={PASSWORD} label="Password (may be empty)" type="password" />
    </>
  );
}

function OAuth2Fields({ before }: { before: NonNullable<Credentials['oauth2']> | undefined }) {
  // Its query is not shown.
  const url = before?.token_url.includes('?') === true ? undefined : before?.token_url;
  return (
    <>
      <Field
        at="#/oauth2/token_url"
        label="Token URL"
        type="url"
        required
        placeholder="https://login.example.com/oauth2/token"
        defaultValue={url}
      />
      <Field at="#/oauth2/client_id" label="Client ID" required defaultValue={before?.client_id} />
      <Field at="#/oauth2/client_secret" label="Client secret" type="password" required />
      <Field at="#/oauth2/scope" label="Scope (optional)" defaultValue={before?.scope} />
      <Field at="#/oauth2/audience" label="Audience (optional)" defaultValue={before?.audience} />
      <label>
        Send ID and secret in
        <select name="#/oauth2/secret_in" defaultValue={before?.secret_in ?? 'header'}>
          <option value="header">the Authorization header (Basic)</option>
          <option value="body">the body</option>
        </select>
      </label>
    </>
  );
}

const NO_PEM = 'No PEM found. Convert a PKCS#12 file with: openssl pkcs12 -in client.p12 -nodes -out client.pem';

/** A certificate's chain and its key, pasted or read from files. */
function CertificateFields() {
  const chain = useRef<HTMLTextAreaElement>(null);
  const key = useRef<HTMLTextAreaElement>(null);
  const [found, setFound] = useState('');
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const pem = await readPem([...(target.files ?? [])]);
    target.value = '';
    if (pem.chain !== '' && chain.current !== null) chain.current.value = pem.chain;
    if (pem.key !== '' && key.current !== null) key.current.value = pem.key;
    const names = [pem.chain !== '' && 'certificates', pem.key !== '' && 'a key'].filter(Boolean);
    setFound(names.length > 0 ? `Found ${names.join(' and ')}.` : NO_PEM);
  };
  return (
    <>
      <label>
        PEM files (certificates, key or both)
        <input type="file" multiple accept=".pem,.crt,.cer,.key" onChange={(event) => void read(event)} />
      </label>
      <p className="small" role="status">
        {found}
      </p>
      <PemField field={chain} at="#/certificate/chain" label="Certificate chain (leaf first)" />
      <PemField field={key} at="#/certificate/key" label="Private key (no passphrase)" isHidden />
    </>
  );
}

type PemProps = {
  field: RefObject<HTMLTextAreaElement | null>;
  at: string;
  label: string;
  /** Shown as dots. */
  isHidden?: boolean;
};

/** A field for text in PEM, with the faults that the API found in it. */
function PemField({ field, at, label, isHidden = false }: PemProps) {
  const { id, marks } = useFaultMarks(at);
  return (
    <>
      <label>
        {label}
        <textarea
          ref={field}
          name={at}
          required
          rows={4}
          autoComplete="off"
          spellCheck={false}
          className={isHidden ? 'hidden-text' : ''}
          placeholder={`-----BEGIN ${isHidden ? 'PRIVATE KEY' : 'CERTIFICATE'}-----`}
          {...marks}
        />
      </label>
      <Faults at={at} id={id} />
    </>
  );
}

/** Limit of each file that is read: a chain is shorter. */
const MOST_BYTES = 100_000;

/** Reads certificates and keys from files, in their order; empty if there are none. */
async function readPem(files: readonly Blob[]): Promise<{ chain: string; key: string }> {
  const texts = await Promise.all(files.map((file) => file.slice(0, MOST_BYTES).text()));
  const blocks = texts.flatMap((text) => [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g)]);
  const all = (isWanted: (label: string) => boolean) =>
    blocks.flatMap(([block, label = '']) => (isWanted(label) ? [`${block}\n`] : [])).join('');
  return { chain: all((label) => label === 'CERTIFICATE'), key: all((label) => label.endsWith('PRIVATE KEY')) };
}
