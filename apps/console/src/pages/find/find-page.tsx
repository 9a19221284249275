import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Navigate } from '@tanstack/react-router';
import { told } from '../../api/ask.ts';
import { ProblemAnswer } from '../../api/problem.ts';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';

const route = getRouteApi('/find/$text');
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Leads to what was searched for: a guid may be that of the account, of a delivery, or of anything that an event names. */
export function FindPage() {
  const { text } = route.useParams();
  const { account, ask } = useSignedIn();
  const isDelivery = useQuery({
    queryKey: ['is-delivery', text],
    enabled: GUID.test(text),
    queryFn: async () => {
      try {
        await told(ask.client.GET('/v1/deliveries/{guid}', { params: { path: { guid: text } } }));
        return true;
      } catch (error) {
        if (error instanceof ProblemAnswer && error.kind === 'unknown-delivery') return false;
        throw error;
      }
    },
  });
  if (text.toLowerCase() === account) return <Navigate to="/subscriptions" replace />;
  if (!GUID.test(text)) return <Navigate to="/timeline/$key" params={{ key: text }} replace />;
  return (
    <Page title={`Looking for ${text}`}>
      <Found of={isDelivery} what={text}>
        {(is) =>
          is ? (
            <Navigate to="/deliveries/$guid" params={{ guid: text }} replace />
          ) : (
            <Navigate to="/timeline/$key" params={{ key: text }} replace />
          )
        }
      </Found>
    </Page>
  );
}
