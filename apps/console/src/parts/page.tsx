import { useEffect, type ReactNode } from 'react';

/** A page with its title, which is that of the window too. */
export function Page({ title, tools, children }: { title: string; tools?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – Waybell`;
  }, [title]);
  return (
    <>
      <header className="page-header">
        <h1>{title}</h1>
        {tools}
      </header>
      {children}
    </>
  );
}
