type AuditFieldsProps = {
  names: readonly string[];
  /** Undefined: the plain form. */
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
