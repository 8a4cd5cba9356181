/** Calls the specification does not have, each with the reason why the product needs it. */
export const beyond: Readonly<Record<string, string>> = {
  'GET /user/apiDoc': 'What apiDoc shows: the machine-readable documentation of the calls that are a customer’s.',
  'GET /client/apiDoc': 'The same of an operator’s calls, for whoever writes programs against them.',
  'GET /admin/apiDoc': 'The same of the vendor’s.',
  'GET /admin/license/orders': 'Which operators hold what, at a glance: the order of one is found by its number alone.',
  'GET /client/license': 'An operator sees what it may have and until when, and the number its vendor asks for.',
  'DELETE /user/site/{siteID}/setting/gzip':
    'Once saved, a site would keep values of its own for good, and what is above would never reach it again.',
  'DELETE /client/site/{siteID}/setting/gzip':
    'Once saved, a site would keep values of its own for good, and what is above would never reach it again.',
  'GET /user/site/{siteID}/zonePorts': 'A customer cannot see the zone: without this it would guess which ports there are.',
  'GET /client/site/{siteID}/zonePorts': 'A form of a site offers the ports that its zone has, whoever fills it in.',
  'GET /client/group/{g}/answer':
    'Who steers names must see what a visitor gets before one complains: by line, and where it has arrived.',
  'GET /client/group/{g}/answers': 'Who left an answer and why is asked after each disturbance; nothing else tells it.',
  'GET /client/setting/dns/geoData':
    'Issue 10: lines go by data of where addresses are; how old they are, and whose, has to be seen and named.',
  'GET /client/setting/dns/geoData/place':
    'Issue 10: whoever wonders why a visitor is on a line asks where its address is taken to be.',
  'POST /client/setting/dns/geoData':
    'Issue 10: an installation’s owner may have better data than those that come with the program.',
  'DELETE /client/setting/dns/geoData': 'Issue 10: uploaded data that are old or wrong must go again.',
  'GET /client/setting/dns/geoData/source':
    'Issue 10: data of places age; where newer ones come from, and whether they did, has to be seen.',
  'PUT /client/setting/dns/geoData/source': 'Issue 10: data of places age; nobody uploads a licensed copy by hand each week.',
  'POST /client/setting/dns/geoData/source/refresh':
    'Issue 10: whoever has set a source, or knows of newer data, waits for no clock.',
  'POST /client/nodes/joinToken': 'A new machine needs a credential before it can be trusted with a name and a zone.',
  'GET /client/nodes/joinTokens':
    'Issue 9: a line that was made lets a machine in for a day; who looks after the fleet sees which are still open.',
  'DELETE /client/nodes/joinTokens': 'Issue 9: a line that went to the wrong place must not wait for its end.',
  'GET /client/nodes/fleet':
    'Issue 9: a fleet is looked at as a whole, on a map and in a table; a page of a list tells of ten nodes at a time.',
  'GET /client/zone/{id}/setting/canary':
    'Issue 9: a change of nginx’s settings has one node first; without this nobody would see that it was stopped there, and why.',
  'POST /client/zone/{id}/setting/canary/retry':
    'Issue 9: what stopped a change was mended at the node; saving the same again changes nothing.',
  'POST /client/zone/{id}/setting/canary/takeBack':
    'Issue 9: nobody remembers which of several settings differ from what the nodes have.',
  'PUT /client/nodes/place':
    'Issue 9: where a node stands on the map; its addresses tell nothing of that without data of their own.',
  'POST /node/join': 'What a new machine calls with its join token to receive its id and its bus credentials.',
  'POST /node/credentials': 'A node renews its bus credentials with its own key, so that they can be short-lived.',
  'GET /user/systemHealth':
    'A gentle word when changes or figures of one’s own sites are late; else people take it for a fault of theirs.',
  'GET /client/systemHealth':
    'What is wrong, since when and what to do: the banner of the console reads the same checks as /readyz and doctor.',
  'GET /admin/systemHealth': 'The same for the vendor, who watches the whole installation.',
  'GET /admin/installation':
    'The vendor’s first page tells of operators, nodes and versions; two counts of accounts told nothing.',
  'GET /user/site/{siteID}/applied': 'Tells which nodes serve the last change of a site: "2 of 2 nodes, 140 ms".',
  'GET /client/setting/system/originAllow': 'Tells an operator in which private ranges its customers may have origins.',
  'PUT /client/setting/system/originAllow':
    'An origin inside the house must be somebody’s decision, made where the house is known.',
  'GET /client/site/{siteID}/applied': 'Tells which nodes serve the last change of a site: "2 of 2 nodes, 140 ms".',
  'GET /user/site/{siteID}/applied/stream': 'The same as it changes, so that a screen need not ask again and again.',
  'GET /client/site/{siteID}/applied/stream': 'The same as it changes, so that a screen need not ask again and again.',
  'PATCH /client/site/{siteID}/domain/setting/originHost':
    'The Host an origin is asked for is set with a domain; without this a wrong one could only be mended by making the domain anew.',
  'PATCH /user/site/{siteID}/domain/setting/originHost':
    'The Host an origin is asked for is set with a domain; without this a wrong one could only be mended by making the domain anew.',
  'GET /user/site/{siteID}/domain/{domainID}/originTLS':
    'Issue 8: whether certificates of origins are verified, and by which authorities; the specification has no field for it.',
  'PUT /user/site/{siteID}/domain/{domainID}/originTLS':
    'Issue 8: whether certificates of origins are verified, and by which authorities; the specification has no field for it.',
  'GET /client/site/{siteID}/domain/{domainID}/originTLS':
    'Issue 8: whether certificates of origins are verified, and by which authorities; the specification has no field for it.',
  'PUT /client/site/{siteID}/domain/{domainID}/originTLS':
    'Issue 8: whether certificates of origins are verified, and by which authorities; the specification has no field for it.',
  'GET /user/site/{siteID}/domain/{domainID}/originCheck':
    'Issue 8: whether nodes ask origins by themselves how they are, and how often; the specification has no field for it.',
  'PUT /user/site/{siteID}/domain/{domainID}/originCheck':
    'Issue 8: whether nodes ask origins by themselves how they are, and how often; the specification has no field for it.',
  'GET /client/site/{siteID}/domain/{domainID}/originCheck':
    'Issue 8: whether nodes ask origins by themselves how they are, and how often; the specification has no field for it.',
  'PUT /client/site/{siteID}/domain/{domainID}/originCheck':
    'Issue 8: whether nodes ask origins by themselves how they are, and how often; the specification has no field for it.',
  'GET /user/site/{siteID}/domain/{domainID}/originTimeouts':
    'Issue 8: how long an origin is waited for; an upload, a report or an idle WebSocket may take its minutes, and the specification has no field for it.',
  'PUT /user/site/{siteID}/domain/{domainID}/originTimeouts':
    'Issue 8: how long an origin is waited for; an upload, a report or an idle WebSocket may take its minutes, and the specification has no field for it.',
  'GET /client/site/{siteID}/domain/{domainID}/originTimeouts':
    'Issue 8: how long an origin is waited for; an upload, a report or an idle WebSocket may take its minutes, and the specification has no field for it.',
  'PUT /client/site/{siteID}/domain/{domainID}/originTimeouts':
    'Issue 8: how long an origin is waited for; an upload, a report or an idle WebSocket may take its minutes, and the specification has no field for it.',
  'GET /user/site/{siteID}/domain/{domainID}/originStates':
    'Issue 8: what each node last saw of an origin, or people search their own servers for what a node cannot reach.',
  'GET /client/site/{siteID}/domain/{domainID}/originStates':
    'Issue 8: what each node last saw of an origin, or people search their own servers for what a node cannot reach.',
  'GET /user/site/{siteID}/domain/{domainID}/https':
    'Issue 8: what a new domain still lacks for https, as it changes; the specification knows the certificate’s state alone.',
  'GET /client/site/{siteID}/domain/{domainID}/https':
    'Issue 8: what a new domain still lacks for https, as it changes; the specification knows the certificate’s state alone.',
  'PUT /client/zone/{id}/setting/resource':
    'The specification reads the shares of nginx on a node and has no call that sets them: an operator would look at what nobody can change.',
  'GET /client/zone/{id}/setting/http3':
    'Issue 8: HTTP/3 by zone; the specification knows HTTP/2 alone, and not every network lets UDP through.',
  'PUT /client/zone/{id}/setting/http3':
    'Issue 8: HTTP/3 by zone; the specification knows HTTP/2 alone, and not every network lets UDP through.',
  'GET /client/zone/{id}/setting/proxyProtocol':
    'Issue 8: the PROXY protocol. Behind a balancer every visitor has its address, and what judges by addresses judges it.',
  'PUT /client/zone/{id}/setting/proxyProtocol':
    'Issue 8: the PROXY protocol. Behind a balancer every visitor has its address, and what judges by addresses judges it.',
  'GET /client/zone/{id}/setting/http2': 'What is set can be read: a form shows what stands before it changes it.',
  'GET /client/zone/{id}/setting/forceSSLRedirectCode': 'What is set can be read: a form shows what stands before it changes it.',
  'POST /client/setting/system/DBBackup/run':
    'Issue 11: a backup before something risky, and the proof that the latest can be restored, wait for no clock.',
  'GET /user/notices': 'Issue 11: who was not there when it happened reads it later.',
  'GET /user/notices/unread': 'The bell asks for a number, not for a list.',
  'POST /user/notices/read': 'What was read is marked on every device.',
  'GET /user/notices/choices': 'Each person says what to be told, and how.',
  'POST /user/notices/choices': 'Who is told of everything reads nothing: each person leaves out what is of no use.',
  'GET /client/notices': 'Issue 11: who was not there when it happened reads it later.',
  'GET /client/notices/unread': 'The bell asks for a number, not for a list.',
  'POST /client/notices/read': 'What was read is marked on every device.',
  'GET /client/notices/choices': 'Each person says what to be told, and how.',
  'POST /client/notices/choices': 'Who is told of everything reads nothing: each person leaves out what is of no use.',
  'GET /user/setting/webhook': 'Issue 11: programs are told of events too, and what became of each is seen.',
  'PUT /user/setting/webhook': 'Where they are told, and by which secret it is signed.',
  'POST /user/setting/webhook/test': 'Whoever writes the other side tries it without a node that goes down.',
  'GET /client/setting/webhook': 'Issue 11: programs are told of events too, and what became of each is seen.',
  'PUT /client/setting/webhook': 'Where they are told, and by which secret it is signed.',
  'POST /client/setting/webhook/test': 'Whoever writes the other side tries it without a node that goes down.',
  'GET /client/setting/system/retention': 'What is removed by itself, and when it last was, must be seen by who answers for it.',
  'POST /client/setting/dns/cname/preview':
    'Issue 10: what would be written into a zone at a provider, and what others have there, is seen before it is.',
  'GET /client/setting/dns/secondaries': 'Zones with one name server are gone when it is: others have copies (RFC 2182).',
  'POST /client/setting/dns/secondary': 'Zones with one name server are gone when it is: others have copies (RFC 2182).',
  'PUT /client/setting/dns/secondary': 'Zones with one name server are gone when it is: others have copies (RFC 2182).',
  'DELETE /client/setting/dns/secondary': 'Zones with one name server are gone when it is: others have copies (RFC 2182).',
  'PUT /client/setting/dns': 'A key of a name server is changed now and then, and zones hang on its setting meanwhile.',
  'PUT /client/setting/system/retention': 'How long an audit is kept is law in one country and forbidden in another.',
  'GET /user/history':
    'Who changed which field of a row and when, from what to what: people ask this first when something broke.',
  'GET /client/history': 'The same for the operator, who is asked by its customers.',
  'GET /admin/history': 'The same for the accounts of an installation.',
  'GET /user/history/removed': 'What was removed by mistake is made again from what it was, not from memory.',
  'GET /client/history/removed': 'What was removed by mistake is made again from what it was, not from memory.',
  'GET /admin/history/removed': 'What was removed by mistake is made again from what it was, not from memory.',
  'POST /user/site/{siteID}/customHeader/copy':
    'calls.md copies an acl to other sites; headers that all sites of a customer should have are written once.',
  'POST /client/site/{siteID}/customHeader/copy':
    'calls.md copies an acl to other sites; headers that all sites of a customer should have are written once.',
  'POST /user/site/{siteID}/urlRedirect/copy':
    'calls.md copies an acl to other sites; thousands of redirects are nothing to paste into each of a hundred sites.',
  'POST /client/site/{siteID}/urlRedirect/copy':
    'calls.md copies an acl to other sites; thousands of redirects are nothing to paste into each of a hundred sites.',
  'POST /user/site/{siteID}/cors/copy':
    'calls.md copies an acl to other sites; what other origins may ask is mostly the same for all sites of a house.',
  'POST /client/site/{siteID}/cors/copy':
    'calls.md copies an acl to other sites; what other origins may ask is mostly the same for all sites of a house.',
  'POST /user/site/{siteID}/proxyRewrite/copy':
    'calls.md copies an acl to other sites; rewrites of one origin hold for every site in front of it.',
  'POST /client/site/{siteID}/proxyRewrite/copy':
    'calls.md copies an acl to other sites; rewrites of one origin hold for every site in front of it.',
  'GET /user/account/sessions': 'Issue 11: who is signed in in one’s name, from which device and where, is seen by nobody else.',
  'GET /client/account/sessions':
    'Issue 11: who is signed in in one’s name, from which device and where, is seen by nobody else.',
  'GET /admin/account/sessions': 'Issue 11: who is signed in in one’s name, from which device and where, is seen by nobody else.',
  'DELETE /user/account/session': 'Issue 11: a device that was lost is signed out from afar.',
  'DELETE /client/account/session': 'Issue 11: a device that was lost is signed out from afar.',
  'DELETE /admin/account/session': 'Issue 11: a device that was lost is signed out from afar.',
  'DELETE /user/account/sessions': 'Issue 11: all others at once, without a new password.',
  'DELETE /client/account/sessions': 'Issue 11: all others at once, without a new password.',
  'DELETE /admin/account/sessions': 'Issue 11: all others at once, without a new password.',
  'POST /user/account/presence/challenge':
    'Issue 11: a passkey serves in place of a code, which a broken mail server does not deliver.',
  'POST /user/account/presence/code':
    'Issue 11: a passkey serves in place of a code, which a broken mail server does not deliver.',
  'POST /client/account/presence/challenge':
    'Issue 11: a passkey serves in place of a code, which a broken mail server does not deliver.',
  'POST /client/account/presence/code':
    'Issue 11: a passkey serves in place of a code, which a broken mail server does not deliver.',
  'POST /admin/account/presence/challenge':
    'Issue 11: a passkey serves in place of a code, which a broken mail server does not deliver.',
  'POST /admin/account/presence/code':
    'Issue 11: a passkey serves in place of a code, which a broken mail server does not deliver.',
  'POST /user/auditLogs/export': 'Issue 11: an auditor takes all of it along; page by page a browser would hold it.',
  'POST /client/auditLogs/export': 'Issue 11: an auditor takes all of it along; page by page a browser would hold it.',
  'POST /admin/auditLogs/export': 'Issue 11: an auditor takes all of it along; page by page a browser would hold it.',
  'GET /user/account/passkeys': 'Issue 11: what one signs in by without a password is seen, with when it was used last.',
  'GET /client/account/passkeys': 'Issue 11: what one signs in by without a password is seen, with when it was used last.',
  'GET /admin/account/passkeys': 'Issue 11: what one signs in by without a password is seen, with when it was used last.',
  'POST /user/account/passkey/options': 'Issue 11: an authenticator signs a challenge of ours; the password is asked for before.',
  'POST /client/account/passkey/options':
    'Issue 11: an authenticator signs a challenge of ours; the password is asked for before.',
  'POST /admin/account/passkey/options':
    'Issue 11: an authenticator signs a challenge of ours; the password is asked for before.',
  'POST /user/account/passkey':
    'Issue 11: a passkey signs in without a password that could be guessed, told or typed into a false page.',
  'POST /client/account/passkey':
    'Issue 11: a passkey signs in without a password that could be guessed, told or typed into a false page.',
  'POST /admin/account/passkey':
    'Issue 11: a passkey signs in without a password that could be guessed, told or typed into a false page.',
  'DELETE /user/account/passkey': 'Issue 11: a passkey on a device that was lost is removed.',
  'DELETE /client/account/passkey': 'Issue 11: a passkey on a device that was lost is removed.',
  'DELETE /admin/account/passkey': 'Issue 11: a passkey on a device that was lost is removed.',
  'POST /user/passkey/challenge': 'Issue 11: who signs in by a passkey signs a challenge that serves once.',
  'POST /client/passkey/challenge': 'Issue 11: who signs in by a passkey signs a challenge that serves once.',
  'POST /admin/passkey/challenge': 'Issue 11: who signs in by a passkey signs a challenge that serves once.',
  'POST /user/passkey/verify': 'Issue 11: signing in by a passkey.',
  'POST /client/passkey/verify': 'Issue 11: signing in by a passkey.',
  'POST /admin/passkey/verify': 'Issue 11: signing in by a passkey.',
  'GET /user/oidc/button': 'Issue 11: the sign-in page of an operator’s host offers its provider.',
  'GET /client/oidc/button': 'Issue 11: the sign-in page of an operator’s host offers its provider.',
  'POST /user/oidc/start':
    'Issue 11: who signs in by a provider is sent there with state, nonce and a challenge (RFC 7636) of ours.',
  'POST /client/oidc/start':
    'Issue 11: who signs in by a provider is sent there with state, nonce and a challenge (RFC 7636) of ours.',
  'POST /user/oidc/finish': 'Issue 11: who comes back from the provider signs in.',
  'POST /client/oidc/finish': 'Issue 11: who comes back from the provider signs in.',
  'GET /user/account/identities': 'Issue 11: whom of a provider one is, is seen and taken away by oneself.',
  'GET /client/account/identities': 'Issue 11: whom of a provider one is, is seen and taken away by oneself.',
  'POST /user/account/identity/start': 'Issue 11: a link to a provider is made by its person, with the password.',
  'POST /client/account/identity/start': 'Issue 11: a link to a provider is made by its person, with the password.',
  'POST /user/account/identity': 'Issue 11: the link itself, once its person has come back.',
  'POST /client/account/identity': 'Issue 11: the link itself, once its person has come back.',
  'DELETE /user/account/identity': 'Issue 11: a link is taken away by its person.',
  'DELETE /client/account/identity': 'Issue 11: a link is taken away by its person.',
  'GET /client/setting/system/oidc': 'Issue 11: an operator’s people sign in by the identity provider of their house.',
  'PUT /client/setting/system/oidc': 'Which provider that is, and for whom.',
  'POST /client/setting/system/zeroSSL/test':
    'Wrong credentials are seen where they are typed, not weeks later in the log of an order that failed.',
  'POST /client/setting/system/oidc/test': 'Whether the provider is there is known before anybody is sent to it.',
  'GET /user/tasks': 'Work that takes longer than a call must be seen: how far it is, what it could not do.',
  'GET /user/task/{taskID}': 'One task with its log: what was done, line by line, while it goes on.',
  'PUT /user/task/{taskID}/cancel': 'Whoever starts what takes minutes must be able to stop it.',
  'PUT /user/task/{taskID}/retry': 'What failed goes on where it stopped, once its cause is gone.',
  'GET /client/tasks': 'Work that takes longer than a call must be seen: how far it is, what it could not do.',
  'GET /client/task/{taskID}': 'One task with its log: what was done, line by line, while it goes on.',
  'PUT /client/task/{taskID}/cancel': 'Whoever starts what takes minutes must be able to stop it.',
  'PUT /client/task/{taskID}/retry': 'What failed goes on where it stopped, once its cause is gone.',
  'GET /client/setting/logo/proof':
    'An operator sees which record shows that a hostname is its own, and whether it is seen yet, before it draws and sends a brand.',
  'GET /client/setting/system/outgoingURL/proof':
    'The same of the console’s address: what is wrong with the record is told before a password and a code are asked for.',
};
