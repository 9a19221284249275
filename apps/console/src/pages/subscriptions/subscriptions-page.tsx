import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTold } from '../../api/use-told.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { SubscribeDialog } from './subscribe-dialog.tsx';
import { SubscriptionCard } from './subscription-card.tsx';

const LOOK_EVERY_MS = 15_000;

/** What the client has subscribed to, and how it went in the last 24 hours. */
export function SubscriptionsPage() {
  const session = useSignedIn();
  const { subscribe: wanted } = useSearch({ from: '/subscriptions' });
  const [isSubscribing, setSubscribing] = useState(wanted !== undefined);
  const subscriptions = useTold(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions'), {
    refetchInterval: LOOK_EVERY_MS,
  });
  const statistics = useTold(['statistics'], ({ client }) => client.GET('/v1/statistics'), {
    refetchInterval: LOOK_EVERY_MS * 4,
  });
  const tools = mayWrite(session) && (
    <button type="button" className="main" onClick={() => setSubscribing(true)}>
      Subscribe
    </button>
  );
  return (
    <Page title="Subscriptions" tools={tools}>
      <Found of={subscriptions} what="the subscriptions">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>
              <p>
                There is none yet. The <Link to="/catalog">catalog</Link> shows what there is to subscribe to.
              </p>
            </Empty>
          ) : (
            <ul className="cards">
              {objects.map((subscription) => (
                <li key={subscription.guid}>
                  <SubscriptionCard subscription={subscription} statistics={statistics} />
                </li>
              ))}
            </ul>
          )
        }
      </Found>
      {isSubscribing && subscriptions.data !== undefined && (
        <SubscribeDialog action={wanted} current={subscriptions.data.objects} close={() => setSubscribing(false)} />
      )}
    </Page>
  );
}
