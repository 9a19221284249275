import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { resume } from './session/resume.ts';
import { applyBrand, readSettings } from './settings.ts';
import './style/base.css';
import './style/parts.css';
import './style/pages.css';
import './style/deliveries.css';
import './style/operators.css';

const place = document.querySelector('#page');
if (place === null) throw new Error('the page has no place for itself');
const settings = readSettings().then((known) => {
  applyBrand(known);
  void resume(known);
  return known;
});
createRoot(place).render(
  <StrictMode>
    <App settings={settings} />
  </StrictMode>,
);
