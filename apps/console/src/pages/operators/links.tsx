import { Link } from '@tanstack/react-router';
import { Guid } from '../../parts/guid.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import type { AccountName } from './types.ts';

/** An account by its name where it has one, which leads to it. */
export function AccountLink({ account: { guid, name } }: { account: AccountName }) {
  return (
    <Link to="/accounts/$guid" params={{ guid }} title={guid}>
      {name === null ? <Guid guid={guid} /> : <Foreign text={name} />}
    </Link>
  );
}

/** A guid that leads to what became of what it names. */
export function WhyLink({ guid }: { guid: string }) {
  return (
    <Link to="/why/$text" params={{ text: guid }}>
      <Guid guid={guid} />
    </Link>
  );
}
