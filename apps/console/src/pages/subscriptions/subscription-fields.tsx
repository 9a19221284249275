import { useState } from 'react';
import { isFound, type OfferedAction } from './subscriptions.ts';

type ActionChoiceProps = {
  actions: readonly OfferedAction[];
  chosen: readonly string[];
  choose: (actions: readonly string[]) => void;
  /** Actions with a current subscription. */
  subscribed: readonly string[];
};

/** Chooses actions by tick boxes: one, a group such as `order.*`, or all; a search or a pattern narrows them down. */
export function ActionChoice({ actions, chosen, choose, subscribed }: ActionChoiceProps) {
  const [text, setText] = useState('');
  const shown = actions.filter((each) => isFound(each, text)).map(({ action }) => action);
  const groups = Object.entries(Object.groupBy(shown, (action) => action.split('.')[0] ?? action));
  const setChosen = (some: readonly string[], areChosen: boolean) => {
    const rest = chosen.filter((each) => !some.includes(each));
    choose(areChosen ? [...rest, ...some] : rest);
  };
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
        <Choice of={shown} chosen={chosen} setChosen={setChosen} label={`All ${shown.length}`} />
        <span className="small" role="status">
          {chosen.length} selected
        </span>
      </div>
      <div className="action-groups">
        {groups.map(([group, some = []]) => (
          <div key={group} role="group" aria-label={`${group}.*`}>
            {some.length > 1 && (
              <Choice of={some} chosen={chosen} setChosen={setChosen} label={`${group}.* (${some.length})`} isGroup />
            )}
            <div className="fields">
              {some.map((action) => (
                <Choice
                  key={action}
                  of={[action]}
                  chosen={chosen}
                  setChosen={setChosen}
                  label={action}
                  tag={subscribed.includes(action) ? 'subscribed' : undefined}
                />
              ))}
            </div>
          </div>
        ))}
      </div>
    </fieldset>
  );
}

type ChoiceProps = {
  of: readonly string[];
  chosen: readonly string[];
  setChosen: (some: readonly string[], areChosen: boolean) => void;
  label: string;
  isGroup?: boolean;
  tag?: string | undefined;
};

/** A tick box of one action, or of several: half ticked where some of them are chosen. */
function Choice({ of, chosen, setChosen, label, isGroup = false, tag }: ChoiceProps) {
  const count = of.filter((each) => chosen.includes(each)).length;
  const isEvery = count === of.length && count > 0;
  return (
    <label className={`choice ${isGroup ? 'group' : ''}`}>
      <input
        type="checkbox"
        checked={isEvery}
        ref={(box) => {
          if (box !== null) box.indeterminate = count > 0 && !isEvery;
        }}
        onChange={() => setChosen(of, !isEvery)}
      />
      {label} {tag !== undefined && <span className="tag">{tag}</span>}
    </label>
  );
}

type CallbackUrlProps = { value: string; change: (url: string) => void };

export function CallbackUrlField({ value, change }: CallbackUrlProps) {
  return (
    <>
      <label htmlFor="callback-url">URL</label>
      <input
        id="callback-url"
        type="url"
        required
        maxLength={2_048}
        placeholder="https://receiver.example.com/waybell"
        value={value}
        onChange={(event) => change(event.target.value)}
      />
    </>
  );
}

type AuditFieldsProps = {
  names: readonly string[];
  /** Undefined: notifications without old and new values. */
  chosen: string[] | undefined;
  choose: (fields: string[] | undefined) => void;
};

/** Whether notifications carry old and new values, and of which fields. */
export function AuditFields({ names, chosen, choose }: AuditFieldsProps) {
  const toggle = (name: string, isOn: boolean) =>
    choose(isOn ? [...(chosen ?? []), name] : (chosen ?? []).filter((each) => each !== name));
  return (
    <fieldset>
      <legend>Content</legend>
      <label className="choice">
        <input
          type="checkbox"
          checked={chosen !== undefined}
          onChange={(event) => choose(event.target.checked ? [] : undefined)}
        />
        Include old and new values of
      </label>
      {chosen !== undefined && (
        <div className="fields">
          {names.map((name) => (
            <label key={name} className="choice">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={(event) => toggle(name, event.target.checked)}
              />
              {name}
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}
