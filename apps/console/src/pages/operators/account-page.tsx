import { getRouteApi, Link } from '@tanstack/react-router';
import { useTold } from '../../api/use-told.ts';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { AccountFacts } from './account/account-facts.tsx';
import { AccountSubscriptions } from './account/account-subscriptions.tsx';
import { AccountTokens } from './account/account-tokens.tsx';

const route = getRouteApi('/accounts/$guid');

/** An account: what it is called and may do, its tokens, and what it has subscribed to. */
export function AccountPage() {
  const { guid } = route.useParams();
  const account = useTold(['account', guid], ({ operator }) =>
    operator.GET('/v1/admin/accounts/{guid}', { params: { path: { guid } } }),
  );
  return (
    <Page
      title={`Account ${account.data?.name ?? guid.slice(0, 8)}`}
      tools={
        <span className="line">
          <Link to="/why/$text" params={{ text: guid }} search={{ as: 'account' }}>
            Its latest deliveries
          </Link>
          <Link to="/audit" search={{ account: guid }}>
            Its audit log
          </Link>
        </span>
      }
    >
      <Found of={account} what="the account">
        {(found) => (
          <>
            <AccountFacts key={`${found.name} ${found.features.join(' ')}`} account={found} />
            <AccountTokens guid={guid} />
            <AccountSubscriptions guid={guid} />
          </>
        )}
      </Found>
    </Page>
  );
}
