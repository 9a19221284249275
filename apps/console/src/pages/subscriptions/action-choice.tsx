import { useState } from 'react';
import { isFound } from '../catalog/is-found.ts';
import type { OfferedAction } from './subscribing.ts';

type ActionChoiceProps = {
  actions: readonly OfferedAction[];
  chosen: readonly string[];
  choose: (actions: readonly string[]) => void;
  /** Those that the client is subscribed to already. */
  subscribed: readonly string[];
};

/** Some of the actions, by tick boxes; a search or a pattern such as `order.*` narrows them down, and all that are shown can be chosen at once. */
export function ActionChoice({ actions, chosen, choose, subscribed }: ActionChoiceProps) {
  const [text, setText] = useState('');
  const shown = actions.filter((each) => isFound(each, text)).map(({ action }) => action);
  const rest = chosen.filter((each) => !shown.includes(each));
  return (
    <fieldset>
      <legend>Actions</legend>
      <input
        type="search"
        aria-label="Search actions"
        placeholder="Search, or a pattern such as order.*"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="tools">
        <button type="button" onClick={() => choose([...rest, ...shown])}>
          Select all {shown.length}
        </button>
        <button type="button" onClick={() => choose(rest)}>
          Select none
        </button>
        <span className="small" role="status">
          {chosen.length} selected
        </span>
      </div>
      <div className="fields">
        {shown.map((action) => (
          <label key={action} className="choice">
            <input
              type="checkbox"
              checked={chosen.includes(action)}
              onChange={(event) =>
                choose(event.target.checked ? [...chosen, action] : chosen.filter((each) => each !== action))
              }
            />
            {action} {subscribed.includes(action) && <span className="tag">subscribed</span>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
