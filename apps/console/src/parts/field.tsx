import type { ComponentProps } from 'react';
import { Faults, useFaultMarks } from './faults.tsx';

type FieldProps = Omit<ComponentProps<'input'>, 'name'> & {
  /** The place of its value in the body, as a pointer, or the name of a parameter. */
  at: string;
  label: string;
};

/** A field that no browser is to remember, with what the API says against its value. */
export function Field({ at, label, ...input }: FieldProps) {
  const { id, marks } = useFaultMarks(at);
  return (
    <>
      <label>
        {label}
        <input name={at} autoComplete="off" spellCheck={false} {...marks} {...input} />
      </label>
      <Faults at={at} id={id} />
    </>
  );
}
