import { render } from 'preact';
import { applyTheme } from '../theme.ts';
import { connect } from './inbox-client.ts';
import { InboxPage } from './inbox-page.tsx';

applyTheme();
connect();
const element = document.getElementById('app');
if (element !== null) render(<InboxPage />, element);
