import * as Toast from '@radix-ui/react-toast';
import { createContext, use, useState, type ReactNode } from 'react';

type ShownNotice = { id: number; text: string };

const NotifyContext = createContext<(text: string) => void>(() => undefined);

/** Returns a function that notifies the user of what was done, for some seconds, and screen readers too. */
export const useNotify = () => use(NotifyContext);

let lastId = 0;

export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly ShownNotice[]>([]);
  const notify = (text: string) => setNotices((before) => [...before, { id: (lastId += 1), text }]);
  const forget = (id: number) => setNotices((before) => before.filter((notice) => notice.id !== id));
  return (
    <NotifyContext value={notify}>
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
    </NotifyContext>
  );
}
