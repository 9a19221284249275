import { root } from '../../api/ask.ts';
import { useTold } from '../../api/use-told.ts';

/** The addresses that callbacks come from, where the operator has set them. */
export function SourceNetworks() {
  const told = useTold(['source-networks'], ({ client }) => client.GET('/v1/source-networks'));
  const networks = told.data?.networks ?? [];
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
