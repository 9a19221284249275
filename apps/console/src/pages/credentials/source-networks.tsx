import { root } from '../../api/ask.ts';
import { useTold } from '../../api/use-told.ts';

/** From which addresses callbacks come, where the operator tells it. */
export function SourceNetworks() {
  const told = useTold(['source-networks'], ({ client }) => client.GET('/v1/source-networks'));
  const networks = told.data?.networks ?? [];
  if (networks.length === 0) return null;
  return (
    <section className="part" aria-labelledby="source-networks">
      <h2 id="source-networks">Where callbacks come from</h2>
      <p>
        Let these networks through a firewall in front of your receiver. A{' '}
        <a href={new URL('docs/source-networks', root).href} target="_blank" rel="noreferrer">
          page for security teams
        </a>{' '}
        says the rest.
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
