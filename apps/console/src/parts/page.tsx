import { useLayoutEffect, type ReactNode } from 'react';
import { titled } from '../settings.ts';
import { Foreign } from './text-block.tsx';

/** A page with its title, which the window has too. The title may be foreign text. */
export function Page({ title, tools, children }: { title: string; tools?: ReactNode; children: ReactNode }) {
  // Together with the content, not after it.
  useLayoutEffect(() => {
    document.title = titled(title);
  }, [title]);
  return (
    <>
      <header className="page-header">
        <h1>
          <Foreign text={title} />
        </h1>
        {tools}
      </header>
      {children}
    </>
  );
}
