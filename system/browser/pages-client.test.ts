import { walked } from './pages.ts';

walked('client');
