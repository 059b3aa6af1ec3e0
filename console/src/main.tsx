import './styles/main.css';
import { render } from 'preact';
import { readConfig } from './api/config.ts';
import { App } from './app.tsx';
import { config } from './state/connection.ts';
import { followLinks } from './state/route.ts';
import { applySettings } from './state/settings.ts';

applySettings();
followLinks();
config.value = readConfig();
const root = document.querySelector('#app');
if (root !== null) render(<App />, root);
