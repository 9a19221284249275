import { getRouteApi, Link } from '@tanstack/react-router';
import { useTold } from '../../api/use-told.ts';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { AccountClients } from './account/account-clients.tsx';
import { AccountEnd, AccountFacts } from './account/account-facts.tsx';
import { AccountSubscriptions } from './account/account-subscriptions.tsx';
import { AccountTokens } from './account/account-tokens.tsx';
import { useAccountSubscriptions } from './account/use-account-subscriptions.ts';
import type { Account } from './types.ts';

const route = getRouteApi('/accounts/$guid');

/** An account: its clients with the ways to their pages, its subscriptions, its tokens, what it is called and may do. */
export function AccountPage() {
  const { guid } = route.useParams();
  const account = useTold(['account', guid], ({ operator }) =>
    operator.GET('/v1/admin/accounts/{guid}', { params: { path: { guid } } }),
  );
  return (
    <Page
      title={account.data?.name ?? `Account ${guid.slice(0, 8)}`}
      tools={
        <span className="line">
          <Link to="/deliveries" search={{ account: guid }}>
            Deliveries
          </Link>
          <Link to="/audit" search={{ account: guid }}>
            Audit log
          </Link>
        </span>
      }
    >
      <Found of={account} what="the account">
        {(found) => <All account={found} />}
      </Found>
    </Page>
  );
}

function All({ account }: { account: Account }) {
  const { guid, name, features } = account;
  const subscriptions = useAccountSubscriptions(guid);
  return (
    <>
      <p className="calm line">
        <span className="tag">{account.interface}</span>
        {features.map((feature) => (
          <span key={feature} className="tag">
            {feature}
          </span>
        ))}
        <code className="quietly">{guid}</code>
      </p>
      <AccountClients account={guid} />
      <AccountSubscriptions pages={subscriptions} />
      <AccountTokens guid={guid} />
      <AccountFacts key={`${guid} ${name} ${features.join(' ')}`} account={account} />
      <AccountEnd account={account} />
    </>
  );
}
