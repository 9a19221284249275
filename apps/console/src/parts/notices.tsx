import * as Toast from '@radix-ui/react-toast';
import { createContext, use, useState, type ReactNode } from 'react';

type ShownNotice = { id: number; text: string };

const Tell = createContext<(text: string) => void>(() => undefined);

/** Says what was done, for some seconds, to screen readers too. */
export const useNotify = () => use(Tell);

let lastId = 0;

export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly ShownNotice[]>([]);
  const notify = (text: string) => setNotices((before) => [...before, { id: (lastId += 1), text }]);
  const forget = (id: number) => setNotices((before) => before.filter((notice) => notice.id !== id));
  return (
    <Tell value={notify}>
      <Toast.Provider duration={6_000} label="Notice">
        {children}
        {notices.map(({ id, text }) => (
          <Toast.Root key={id} className="notice" onOpenChange={(isOpen) => isOpen || forget(id)}>
            <Toast.Description>{text}</Toast.Description>
            <Toast.Close className="quiet" aria-label="Close">
              ✕
            </Toast.Close>
          </Toast.Root>
        ))}
        <Toast.Viewport className="notices" label="Notices ({hotkey})" />
      </Toast.Provider>
    </Tell>
  );
}
