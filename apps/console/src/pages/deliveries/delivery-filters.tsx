import { useId, useState, type SyntheticEvent } from 'react';
import { useAnswer } from '../../api/use-answer.ts';
import { PeriodField } from '../../parts/period-field.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { periodFrom, writtenHere } from '../../parts/time.ts';
import { FILTERS, statusWord } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import type { ListFilter } from './listed-deliveries.ts';

const STATUSES = ['delivered', 'retrying', 'waiting', 'exhausted', 'dropped'];

type FiltersProps = { filter: ListFilter; narrow: (changes: ListFilter) => void };

/** The filters of the list. Each applies at once; a text does when its field is left, or on Enter. */
export function DeliveryFilters({ filter, narrow }: FiltersProps) {
  const { view } = useSignedIn();
  const { since, until } = filter;
  return (
    <div className="delivery-filters">
      <Statuses filter={filter} narrow={narrow} />
      <PeriodField
        period={periodFrom(since, until)}
        choose={(period) => narrow({ since: period.since ?? '', until: period.until ?? '' })}
        mayBeOpen
      />
      <div className="filters">
        <FilterText name="key" label="Key" example="Order number, VIN" filter={filter} narrow={narrow} />
        {view === 'client' ? (
          <OwnChoices filter={filter} narrow={narrow} />
        ) : (
          <FilterText name="action" label="Action" example="order.created" filter={filter} narrow={narrow} />
        )}
        <FilterText name="endpoint" label="Endpoint" example="Host or URL" filter={filter} narrow={narrow} />
        {view === 'operator' && (
          <>
            <AccountText filter={filter} narrow={narrow} />
            <FilterText name="client" label="Client" example="Client id" filter={filter} narrow={narrow} />
          </>
        )}
      </div>
    </div>
  );
}

function Statuses({ filter: { status = '' }, narrow }: FiltersProps) {
  const chosen = status === '' ? [] : status.split(',');
  const toggle = (each: string) =>
    narrow({
      status: (chosen.includes(each) ? chosen.filter((one) => one !== each) : [...chosen, each]).join(','),
    });
  return (
    <div className="chips" role="group" aria-label="Status">
      {STATUSES.map((each) => (
        <button key={each} type="button" aria-pressed={chosen.includes(each)} onClick={() => toggle(each)}>
          {sentence(statusWord(each))}
        </button>
      ))}
    </div>
  );
}

const sentence = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** The actions that the client subscribes to, and its subscriptions. */
function OwnChoices({ filter: { action = '', subscription = '' }, narrow }: FiltersProps) {
  const own = useAnswer(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions')).data?.objects ?? [];
  const actions = new Set([...own.map((each) => each.action), action].filter((each) => each !== ''));
  const isListed = subscription === '' || own.some(({ guid }) => guid === subscription);
  return (
    <>
      <label>
        Action
        <select value={action} onChange={({ target }) => narrow({ action: target.value })}>
          <option value="">All</option>
          {[...actions].toSorted().map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label>
        Subscription
        <select value={subscription} onChange={({ target }) => narrow({ subscription: target.value })}>
          <option value="">All</option>
          {own.map(({ guid, action: of }) => (
            <option key={guid} value={guid}>
              {of} · {guid.slice(0, 8)}
            </option>
          ))}
          {!isListed && <option value={subscription}>{subscription.slice(0, 8)}</option>}
        </select>
      </label>
    </>
  );
}

/** The account, by its name; by its guid if it has no name or shares it. The address contains the guid. */
function AccountText(props: FiltersProps) {
  const accounts = useAnswer(['accounts', 'first'], ({ operator }) => operator.GET('/v1/admin/accounts'));
  const list = useId();
  const all = accounts.data?.objects ?? [];
  const called = (text: string) => all.filter(({ name }) => name?.toLowerCase() === text.toLowerCase());
  const written = ({ guid, name }: (typeof all)[number]) => (name !== null && called(name).length === 1 ? name : guid);
  const guidOf = (text: string) => {
    const [account, other] = called(text);
    return account !== undefined && other === undefined ? account.guid : text;
  };
  const set = props.filter.account ?? '';
  const own = all.find(({ guid }) => guid === set.toLowerCase());
  return (
    <>
      <FilterText
        {...props}
        name="account"
        label="Account"
        example="Name or guid"
        list={list}
        set={own === undefined ? set : written(own)}
        read={guidOf}
      />
      <datalist id={list}>
        {all.map((account) => (
          <option key={account.guid} value={written(account)} label={account.guid} />
        ))}
      </datalist>
    </>
  );
}

type FilterTextProps = FiltersProps & {
  name: keyof ListFilter;
  label: string;
  example: string;
  /** The id of the list of suggestions. */
  list?: string;
  /** The text of the field for the value in the address, and the value for a typed text; the same unless given. */
  set?: string;
  read?: (text: string) => string;
};

function FilterText({ name, label, example, list, filter, narrow, read, set = filter[name] ?? '' }: FilterTextProps) {
  const [text, setText] = useState(set);
  const [shown, setShown] = useState(set);
  const id = useId();
  // A button or a link has changed the address meanwhile.
  if (shown !== set) {
    setShown(set);
    setText(set);
  }
  const commit = () => {
    const wanted = text.trim();
    if (wanted !== set) narrow({ [name]: read?.(wanted) ?? wanted });
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    commit();
  };
  return (
    <form onSubmit={submit}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="search"
        value={text}
        placeholder={example}
        maxLength={200}
        list={list}
        onChange={({ target }) => setText(target.value)}
        onBlur={commit}
      />
    </form>
  );
}

type FilterChipsProps = {
  filter: ListFilter;
  narrow: (changes: ListFilter) => void;
  /** The filters to show; all by default. */
  only?: readonly string[];
};

/** The filters that are set, each with a button that removes it. */
export function FilterChips({ filter, narrow, only }: FilterChipsProps) {
  // The filter has the form of the address.
  const all = Object.entries(filter) as [keyof ListFilter, string][];
  const set = all.filter(([name]) => only?.includes(name) ?? true);
  if (set.length === 0) return null;
  return (
    <div className="chips set-filters" role="group" aria-label="Filters">
      {set.map(([name, value]) => (
        <button key={name} type="button" onClick={() => narrow({ [name]: '' })}>
          <span className="sr">Remove </span>
          {FILTERS[name]}: <Foreign text={writtenValue(name, value)} /> <span aria-hidden="true">✕</span>
        </button>
      ))}
    </div>
  );
}

function writtenValue(name: keyof ListFilter, value: string): string {
  if (name === 'status') return value.split(',').map(statusWord).join(', ');
  if (name === 'subscription' || name === 'account') return value.slice(0, 8);
  const isTime = (name === 'since' || name === 'until') && !Number.isNaN(Date.parse(value));
  return isTime ? writtenHere(value) : value;
}
