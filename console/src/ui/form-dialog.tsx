import type { ComponentChildren, JSX } from 'preact';
import { Dialog } from './dialog.tsx';
import type { DialogProps } from './dialog.tsx';
import { act } from './toast.tsx';

export interface FormDialogProps extends DialogProps {
  /** What the button says that sends the form. */
  readonly submit: ComponentChildren;
  readonly canSubmit?: boolean;
  /** Called with a valid form. If it fails, a line says why. */
  readonly onSubmit: () => Promise<unknown>;
}

/** A modal window with a form. */
export function FormDialog({
  submit,
  canSubmit = true,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps): JSX.Element {
  return (
    <Dialog {...dialog}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          act(onSubmit);
        }}
      >
        {children}
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={dialog.onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={!canSubmit}>
            {submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
