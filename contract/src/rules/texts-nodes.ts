/** Sentences of rules (texts.ts) about nodes, and what is done with them. */
import type { Text } from '../kit/text.ts';

export const nodeTexts = {
  taskOpen: {
    zh_TW: '同類任務同時只能進行一項。請等目前這一項結束，或先取消它',
    zh_CN: '同类任务同时只能进行一项。请等目前这一项结束，或先取消它',
    en_US: 'Only one task of this kind may be under way. Wait until the current one has ended, or cancel it first',
  },
  refused: {
    zh_TW: '目前的狀態不允許此操作',
    zh_CN: '当前状态不允许此操作',
    en_US: 'Its state does not allow this',
  },
  nodeApart: {
    zh_TW: '節點版本 {version} 與 {offered} 相差超過 {most} 個版本。請在該主機上執行新的加入指令，節點會保留原有身分',
    zh_CN: '节点版本 {version} 与 {offered} 相差超过 {most} 个版本。请在该主机上执行新的加入命令，节点会保留原有身份',
    en_US:
      'It runs {version}, more than {most} releases from {offered}. Run a new join line on that machine: it stays the node it is',
  },
  nodeCheckout: {
    zh_TW: '此節點執行於安裝目錄，會隨控制端一起升級',
    zh_CN: '此节点运行于安装目录，会随控制端一起升级',
    en_US: 'It runs out of the folder of an installation, and is upgraded with that',
  },
  nodeTwin: {
    zh_TW:
      '另一台主機正以此節點的身分運作，或半分鐘內曾如此。若此主機是複製而來，請刪除它的 /etc/machine-id 並執行 systemd-machine-id-setup，再重新執行加入指令；否則請先停用另一台，半分鐘後再試。此加入指令仍可使用',
    zh_CN:
      '另一台主机正以此节点的身份运行，或半分钟内曾如此。若此主机是复制而来，请删除它的 /etc/machine-id 并执行 systemd-machine-id-setup，再重新执行加入命令；否则请先停用另一台，半分钟后再试。此加入命令仍可使用',
    en_US:
      'Another machine runs as this node, or did within half a minute. If this machine is a copy, delete its /etc/machine-id, run systemd-machine-id-setup, and then run the line again; otherwise end the other one and try again half a minute later. The line is not spent',
  },
  nodeClock: {
    zh_TW: '此主機的時鐘與控制端相差 {seconds} 秒，最多可差 {most} 秒。請校正時鐘（timedatectl set-ntp true）後重試',
    zh_CN: '此主机的时钟与控制端相差 {seconds} 秒，最多可差 {most} 秒。请校正时钟（timedatectl set-ntp true）后重试',
    en_US:
      'The clock of this machine is {seconds} s away from the control plane’s; {most} s are borne. Set it right (timedatectl set-ntp true), and try again',
  },
  upgradeUnproven: {
    zh_TW: '這些節點目前都不正常，先升級的節點無法驗證新版本。若仍要升級，請在請求中加上 unproven: true',
    zh_CN: '这些节点目前都不正常，先升级的节点无法验证新版本。若仍要升级，请在请求中加上 unproven: true',
    en_US:
      'None of these nodes is well now, so those that go first would prove nothing of the version. To begin all the same, send unproven: true with the order',
  },
  nothingPacked: {
    zh_TW: '尚未打包節點程式，請先執行 npm run bundle',
    zh_CN: '尚未打包节点程序，请先执行 npm run bundle',
    en_US: 'Nothing is packed for nodes yet: run npm run bundle where Breakwater is installed',
  },
} as const satisfies Record<string, Text>;
