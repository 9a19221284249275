import { useRef, useState, type ChangeEvent, type ReactNode, type RefObject } from 'react';
import { Faults, Field, pointerOf, useFaultMarks } from '../../parts/form.tsx';
import { KIND_NAMES, KINDS, type Credentials, type CredentialsKind, type GivenCredentials } from './credentials.ts';

/** The names of fields that may be there several times: of each header its name, then its value. */
const HEADER_NAME = 'header-name';
const HEADER_VALUE = 'header-value';
const PASSWORD = '#/basic/password';

/** A request has one of them. */
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

/** Gives the focus to an element that comes in place of the one that had it, or to its first field. */
const focusOn = (element: HTMLElement | null) =>
  (element?.querySelector<HTMLElement>('input, textarea') ?? element)?.focus();

/** Returns the values of a form's fields, as the API takes them: each at the place that its name points to. */
export function writtenIn(form: HTMLFormElement | null): GivenCredentials {
  const body: Record<string, Record<string, string>> = {};
  let header = '';
  for (const [at, value] of new FormData(form ?? undefined)) {
    if (typeof value !== 'string') continue;
    const [root, kind = '', member = ''] = at.split('/');
    // A password may be empty; what else is, was left out.
    const isGiven = root === '#' && (value !== '' || at === PASSWORD);
    if (at === HEADER_NAME) header = value.trim();
    else if (at === HEADER_VALUE) (body['headers'] ??= {})[header] = value;
    else if (isGiven) (body[kind] ??= {})[member] = value;
  }
  return body;
}

const MOST = 5;

/** Rows of a header's name and value; the values stand in their fields alone. */
function HeaderFields({ names }: { names: readonly string[] }) {
  const [rows, setRows] = useState(() => names.map((name, key) => ({ key, name })));
  const add = () => setRows([...rows, { key: 1 + Math.max(...rows.map(({ key }) => key)), name: '' }]);
  /** Whether two headers have this name: an object can have only one. */
  const isTwice = (name: string) => rows.filter((row) => written(row.name) === written(name)).length > 1;
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
      {rows.length < MOST && (
        <div className="tools">
          <button type="button" onClick={add}>
            Add header
          </button>
        </div>
      )}
    </>
  );
}

const written = (name: string): string => name.trim().toLowerCase();

type RowProps = {
  /** From 1. */
  place: number;
  name: string;
  isTwice: boolean;
  rename: (name: string) => void;
  leaveOut?: () => void;
};

/** A header's name and value, with what the API says against either. */
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

const NOTHING = 'No PEM found. Convert a PKCS#12 file with: openssl pkcs12 -in client.p12 -nodes -out client.pem';

/** A certificate's chain and its key, pasted or out of files. */
function CertificateFields() {
  const chain = useRef<HTMLTextAreaElement>(null);
  const key = useRef<HTMLTextAreaElement>(null);
  const [said, setSaid] = useState('');
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const found = await readPem([...(target.files ?? [])]);
    target.value = '';
    if (found.chain !== '' && chain.current !== null) chain.current.value = found.chain;
    if (found.key !== '' && key.current !== null) key.current.value = found.key;
    const names = [found.chain !== '' && 'certificates', found.key !== '' && 'a key'].filter(Boolean);
    setSaid(names.length > 0 ? `Found ${names.join(' and ')}.` : NOTHING);
  };
  return (
    <>
      <label>
        PEM files (certificates, key or both)
        <input type="file" multiple accept=".pem,.crt,.cer,.key" onChange={(event) => void read(event)} />
      </label>
      <p className="small" role="status">
        {said}
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

/** A field for text in PEM, with what the API says against it. */
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

/** Certificates and keys that stand in files, in their order; empty where there are none. */
async function readPem(files: readonly Blob[]): Promise<{ chain: string; key: string }> {
  const texts = await Promise.all(files.map((file) => file.slice(0, MOST_BYTES).text()));
  const blocks = texts.flatMap((text) => [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g)]);
  const all = (isWanted: (label: string) => boolean) =>
    blocks.flatMap(([block, label = '']) => (isWanted(label) ? [`${block}\n`] : [])).join('');
  return { chain: all((label) => label === 'CERTIFICATE'), key: all((label) => label.endsWith('PRIVATE KEY')) };
}
