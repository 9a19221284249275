import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Navigate } from '@tanstack/react-router';
import { answerOf, type ApiClient } from '../../api/create-api.ts';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import type { ListFilter } from '../deliveries/listed-deliveries.ts';

const route = getRouteApi('/find');

/** Redirects to the page of what was searched for. */
export function FindPage() {
  const { text = '' } = route.useSearch();
  const { account, api } = useSignedIn();
  const isAccount = text.toLowerCase() === account;
  const place = useQuery({ queryKey: ['find', text], queryFn: () => findPlace(api, text), enabled: !isAccount });
  if (isAccount) return <Navigate to="/subscriptions" replace />;
  return (
    <Page title={`Looking for ${text}`}>
      <Found of={place} what={text}>
        {(found) => <Go to={found} text={text} />}
      </Found>
    </Page>
  );
}

function Go({ to: place, text }: { to: Place; text: string }) {
  switch (place.kind) {
    case 'delivery':
      return <Navigate to="/deliveries/$guid" params={{ guid: place.guid }} replace />;
    case 'deliveries':
      return <Navigate to="/deliveries" search={place.filter} replace />;
    case 'timeline':
      return <Navigate to="/timeline" search={{ key: text }} replace />;
  }
}

/** The result of a search: a delivery, the timeline of an event or a key, or a list of deliveries. */
type Place = { kind: 'delivery'; guid: string } | { kind: 'timeline' } | { kind: 'deliveries'; filter: ListFilter };

const GUID_OR_BEGINNING = /^[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?$/i;

/**
 * Finds what a text means to a client. A key that events mention goes before the guid of a delivery, as an order number may be
 * eight digits long. Throws a Problem.
 */
async function findPlace({ client }: ApiClient, text: string): Promise<Place> {
  const { objects: subscriptions } = await answerOf(client.GET('/v1/subscriptions'));
  const isGuid = GUID_OR_BEGINNING.test(text);
  const own = subscriptions.find(({ guid }) => isGuid && guid.startsWith(text.toLowerCase()));
  if (own !== undefined) return { kind: 'deliveries', filter: { subscription: own.guid } };
  if (subscriptions.some(({ action }) => action === text)) return { kind: 'deliveries', filter: { action: text } };
  const mentions = await answerOf(client.GET('/v1/timeline', { params: { query: { key: text, limit: 1 } } }));
  if (mentions.objects.length > 0) return { kind: 'timeline' };
  if (isGuid) {
    const { objects } = await answerOf(client.GET('/v1/deliveries', { params: { query: { guid: text, limit: 2 } } }));
    const [first] = objects;
    if (objects.length > 1) return { kind: 'deliveries', filter: { guid: text } };
    if (first !== undefined) return { kind: 'delivery', guid: first.guid };
  }
  return subscriptions.some(({ callback_url: url }) => isAt(url, text))
    ? { kind: 'deliveries', filter: { endpoint: text } }
    : { kind: 'timeline' };
}

/** Whether `text` is this URL, its host or its origin. */
function isAt(url: string, text: string): boolean {
  const { host, hostname, origin } = new URL(url);
  return [host, hostname, origin, url.split('?')[0]].includes(text.split('?')[0]);
}
