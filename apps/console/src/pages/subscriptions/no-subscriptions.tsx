import { Link } from '@tanstack/react-router';
import { Empty } from '../../parts/states.tsx';

/** How to begin. */
export function NoSubscriptions() {
  return (
    <Empty>
      <p>
        <strong>No subscriptions yet.</strong> Subscribe to actions such as <code>order.created</code>: each event is
        sent to the URL of your receiver. The <Link to="/catalog">catalog</Link> has every action with an example.
      </p>
    </Empty>
  );
}
