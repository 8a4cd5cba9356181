import type { SameAs } from '../kit/text.ts';
import type texts from './tasks.zh_TW.ts';

export default {
  'task.autoSSL': 'Certificates for {count} {count, one: domain, other: domains}',
  'taskLine.autoSSL.renewsSuggested': '{host}: renewed now, as the authority asks for between {from} and {until}',
  'taskLine.autoSSL.renewsAged': '{host}: renewed now, two thirds of its life are over (it ends {until})',
  'taskLine.autoSSL.renewsAsked': '{host}: asked for anew',
  'taskLine.autoSSL.ordered': '{host}: ordered',
  'taskLine.autoSSL.spread': '{host}: the answer for the authority stands on {nodes} {nodes, one: node, other: nodes}',
  'taskLine.autoSSL.spreadPartly':
    '{host}: the answer stands on {nodes} of {total} {total, one: node, other: nodes}; the authority is asked to look all the same',
  'taskLine.autoSSL.validated': '{host}: the authority has seen that the domain is ours',
  'taskLine.autoSSL.byDNS': '{host}: not proven over HTTP ({why}), now by DNS',
  'taskLine.autoSSL.otherAuthority': '{host}: the first authority could not issue it ({why}), {authority} is asked in a moment',
  'taskLine.autoSSL.recordPut': '{host}: the record {name} is put into {zone}',
  'taskLine.autoSSL.recordSeen': '{host}: the name servers answer with the record',
  'taskLine.autoSSL.recordLater':
    '{host}: the DNS provider cannot be used now, tried again in {seconds} {seconds, one: second, other: seconds}: {why}',
  'taskLine.autoSSL.recordGone': '{host}: the record is taken away',
  'taskLine.autoSSL.recordLeft': '{host}: the record is still there, and goes on being taken away: {why}',
  'taskLine.autoSSL.issued': '{host}: issued, good until {until}',
  'taskLine.autoSSL.notIssued': '{host}: not issued, tried again in {minutes} {minutes, one: minute, other: minutes}: {why}',
  'taskLine.autoSSL.notTaken':
    '{host}: the certificate could not be kept, tried again in {minutes} {minutes, one: minute, other: minutes}:',
  'taskLine.autoSSL.limited':
    'The authority asks for a pause: {count} {count, one: domain is, other: domains are} tried again in {minutes} {minutes, one: minute, other: minutes}',
} satisfies SameAs<typeof texts>;
