import type { RefObject } from 'react';
import { Faults, useFaultMarks } from '../../parts/faults.tsx';

type PemProps = {
  field: RefObject<HTMLTextAreaElement | null>;
  at: string;
  label: string;
  /** Shown as dots. */
  isHidden?: boolean;
};

/** A field for text in PEM, with what the API says against it. */
export function PemField({ field, at, label, isHidden = false }: PemProps) {
  const { id, marks } = useFaultMarks(at);
  return (
    <>
      <label>
        {label}
        <textarea
          ref={field}
          name={at}
          required
          rows={4}
          autoComplete="off"
          spellCheck={false}
          className={isHidden ? 'hidden-text' : ''}
          placeholder={`-----BEGIN ${isHidden ? 'PRIVATE KEY' : 'CERTIFICATE'}-----`}
          {...marks}
        />
      </label>
      <Faults at={at} id={id} />
    </>
  );
}
