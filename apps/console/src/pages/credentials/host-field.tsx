import { useTold } from '../../api/use-told.ts';
import { Foreign } from '../../parts/text-block.tsx';
import { Field } from '../../parts/field.tsx';
import { hostOf, kindsOf, KIND_NAMES, type Credentials } from './types.ts';

type HostProps = {
  typed: string;
  type: (host: string) => void;
  /** The current credentials for this host. */
  replaced: Credentials | undefined;
};

/** The host, one that the client's subscriptions call or any other, and what happens to its current credentials. */
export function HostField({ typed, type, replaced }: HostProps) {
  const subscriptions = useTold(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions'));
  const urls = subscriptions.data?.objects.map(({ callback_url: url }) => url) ?? [];
  return (
    <>
      <Field
        at="host"
        label="Host (with the port, unless 443)"
        list="called-hosts"
        required
        maxLength={300}
        placeholder="receiver.example.com"
        value={typed}
        onChange={(event) => type(event.target.value)}
      />
      <datalist id="called-hosts">
        {[...new Set(urls.map(hostOf))].map((host) => (
          <option key={host} value={host} />
        ))}
      </datalist>
      {replaced !== undefined && (
        <p className="small" role="status">
          Replaces the credentials for <Foreign text={replaced.host} /> (
          {kindsOf(replaced)
            .map((kind) => KIND_NAMES[kind])
            .join(', ')}
          ) as a whole: enter everything again.
        </p>
      )}
    </>
  );
}
