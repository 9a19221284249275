import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { DeliveryView } from './delivery-view.tsx';

const route = getRouteApi('/deliveries/$guid');

export function DeliveryPage() {
  const { guid } = route.useParams();
  return (
    <Page title={`Delivery ${guid.slice(0, 8)}`}>
      <DeliveryView key={guid} guid={guid} />
    </Page>
  );
}
