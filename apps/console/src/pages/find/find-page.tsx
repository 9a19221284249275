import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Navigate } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { findPlace, type Place } from './find-place.ts';

const route = getRouteApi('/find');

/** Leads to what was searched for. */
export function FindPage() {
  const { text = '' } = route.useSearch();
  const { account, ask } = useSignedIn();
  const isAccount = text.toLowerCase() === account;
  const place = useQuery({ queryKey: ['find', text], queryFn: () => findPlace(ask, text), enabled: !isAccount });
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
