import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';

/** A modal dialog. The browser's own keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const name = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // In a layout effect, which ends before the dialog leaves the document: after that it gives no focus back.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={name} onClose={close}>
      <header>
        <h2 id={name}>{title}</h2>
        <button type="button" className="quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

type DialogToolsProps = {
  /** The label of the button. */
  does: string;
  isPending: boolean;
  close: () => void;
  /** Left out if the button submits the form around it. */
  onClick?: () => void;
  isDangerous?: boolean;
};

/** The end of a dialog: the button with its action, and Cancel. */
export function DialogTools({ does, isPending, close, onClick, isDangerous = false }: DialogToolsProps) {
  return (
    <div className="tools">
      <button
        type={onClick === undefined ? 'submit' : 'button'}
        className={isDangerous ? 'danger' : 'main'}
        disabled={isPending}
        onClick={onClick}
      >
        {does}
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </div>
  );
}
