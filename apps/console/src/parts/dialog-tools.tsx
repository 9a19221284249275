type DialogToolsProps = {
  /** The label of the button. */
  does: string;
  isPending: boolean;
  close: () => void;
  /** Left out where the button submits the form around it. */
  onClick?: () => void;
  isDangerous?: boolean;
};

/** The end of a dialog: the button that does it, and Cancel. */
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
