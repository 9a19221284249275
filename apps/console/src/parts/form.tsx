import {
  createContext,
  use,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ComponentProps,
  type ReactNode,
} from 'react';
import { ProblemAnswer, type ProblemFault } from '../api/problem.ts';
import { asSentence } from './problem-texts.ts';
import { Failed } from './states.tsx';
import { Foreign } from './text-block.tsx';

/** Faults of the last request. */
const Given = createContext<readonly ProblemFault[]>([]);

/** Shows the faults of a failed request beside their fields, and any others below. The first wrong field gets the focus. */
export function FaultsOf({ error, children }: { error: Error | null; children: ReactNode }) {
  const fields = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<readonly (string | undefined)[]>([]);
  const faults = error instanceof ProblemAnswer ? error.faults : [];
  useLayoutEffect(() => {
    if (error === null) return;
    const places = fields.current?.querySelectorAll<HTMLElement>('[data-at]') ?? [];
    setShown([...places].map(({ dataset }) => dataset['at']));
    fields.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  const isAllShown = faults.length > 0 && faults.every((fault) => shown.includes(placeOf(fault)));
  return (
    <Given value={faults}>
      <div ref={fields} className="stack">
        {children}
      </div>
      {isAllShown && (
        <p className="bad" role="alert">
          Nothing saved: check the marked fields.
        </p>
      )}
      {error !== null && !isAllShown && <Failed error={error} />}
    </Given>
  );
}

type FieldProps = Omit<ComponentProps<'input'>, 'name'> & {
  /** The place of its value: a pointer into the body, or the name of a parameter. */
  at: string;
  label: string;
};

/** A field with the faults of its value. Browsers must not remember it. */
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

/** The faults of the value at that place. */
export function Faults({ at, id }: { at: string; id?: string }) {
  const faults = use(Given).filter((fault) => placeOf(fault) === at);
  if (faults.length === 0) return null;
  return (
    <p id={id} className="bad" data-at={at}>
      <Foreign text={faults.map(({ detail }) => asSentence(detail)).join(' ')} />
    </p>
  );
}

/** The attributes that mark a field if its value has a fault, and the id of the text about it. */
export function useFaultMarks(at: string) {
  const id = useId();
  const isWrong = use(Given).some((fault) => placeOf(fault) === at);
  return { id, marks: isWrong ? { 'aria-invalid': true, 'aria-describedby': id } : {} };
}

/** A JSON Pointer as a URI fragment, as the API names the place of a fault. */
export const pointerOf = (...path: string[]): string =>
  ['#', ...path.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))].join('/');

const placeOf = ({ pointer, parameter }: ProblemFault): string => pointer ?? parameter ?? '';

type Refused = { isError: boolean; reset: () => void };

/** Props of a form that forgets the error of its last request once a value changes. */
export const forgetting = ({ isError, reset }: Refused) => ({
  onChange() {
    if (isError) reset();
  },
});
