import { Field } from '../../parts/field.tsx';
import type { Credentials } from './types.ts';
import { PASSWORD } from './written-in.ts';

export function BasicFields({ before }: { before: NonNullable<Credentials['basic']> | undefined }) {
  return (
    <>
      <Field at="#/basic/username" label="User name" required defaultValue={before?.username} />
      <Field at={PASSWORD} label="Password (may be empty)" type="password" />
    </>
  );
}

export function OAuth2Fields({ before }: { before: NonNullable<Credentials['oauth2']> | undefined }) {
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
