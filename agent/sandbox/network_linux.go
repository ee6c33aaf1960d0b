package sandbox

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/holdfast/holdfast/internal/outbound"
)

// closeNetwork has the kernel ask a program about each address that a process of the cgroup
// connects or sends to, and about each port at which it is to be reached. The programs stay as long as the cgroup does.
func closeNetwork(cgroup string, n Network) error {
	open := append(resolvers(), n.Allow...)
	four, six, bind := filterFour(open), filterSix(open), filterBind(n.Allow)
	for _, hook := range []struct {
		kind    ebpf.ProgramType
		attach  ebpf.AttachType
		program asm.Instructions
	}{
		{ebpf.CGroupSock, ebpf.AttachCGroupInetSockCreate, onlyKnownProtocols()},
		{ebpf.CGroupSockAddr, ebpf.AttachCGroupInet4Connect, four},
		{ebpf.CGroupSockAddr, ebpf.AttachCGroupUDP4Sendmsg, four},
		{ebpf.CGroupSockAddr, ebpf.AttachCGroupInet6Connect, six},
		{ebpf.CGroupSockAddr, ebpf.AttachCGroupUDP6Sendmsg, six},
		{ebpf.CGroupSockAddr, ebpf.AttachCGroupInet4Bind, bind},
		{ebpf.CGroupSockAddr, ebpf.AttachCGroupInet6Bind, bind},
	} {
		if err := attach(cgroup, hook.kind, hook.attach, hook.program); err != nil {
			return fmt.Errorf("the kernel takes no filter of addresses: %w", err)
		}
	}
	return nil
}

func attach(cgroup string, kind ebpf.ProgramType, at ebpf.AttachType, instructions asm.Instructions) error {
	folder, err := unix.Open(cgroup, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: kind, AttachType: at, Instructions: instructions,
		License: "MIT"})
	if err != nil {
		return err
	}
	defer program.Close()
	// Not as a link: that would end with this process.
	return link.RawAttachProgram(link.RawAttachProgramOptions{
		Target: folder, Program: program, Attach: at, Flags: uint32(unix.BPF_F_ALLOW_MULTI),
	})
}

// Where struct bpf_sock_addr and struct bpf_sock have what the programs look at.
const (
	addressFour  = 4
	addressSix   = 8
	addressPort  = 24
	sockProtocol = 12
)

const (
	permitLabel = "permit"
	refuseLabel = "refuse"
)

func load(to asm.Register, offset int16) asm.Instruction {
	return asm.LoadMem(to, asm.R6, offset, asm.Word)
}

// verdicts are the ends of a program.
func verdicts() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R0, 1).WithSymbol(permitLabel),
		asm.Return(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol(refuseLabel),
		asm.Return(),
	}
}

// filterFour decides about IPv4: R7 has the address, R8 the port.
func filterFour(open []netip.AddrPort) asm.Instructions {
	program := asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1), load(asm.R7, addressFour), load(asm.R8, addressPort)}
	program = append(program, decideFour(open)...)
	return append(program, verdicts()...)
}

func decideFour(open []netip.AddrPort) asm.Instructions {
	var program asm.Instructions
	for i, address := range open {
		if !address.Addr().Unmap().Is4() {
			continue
		}
		next := fmt.Sprintf("four-%d", i)
		program = append(program,
			asm.JNE.Imm32(asm.R7, word(address.Addr().Unmap().AsSlice()), next),
			asm.JNE.Imm32(asm.R8, port(address.Port()), next),
			asm.Ja.Label(permitLabel),
			asm.Mov.Reg(asm.R9, asm.R7).WithSymbol(next),
		)
	}
	for _, prefix := range outbound.Machine() {
		if prefix.Addr().Is4() {
			program = append(program,
				asm.Mov.Reg(asm.R9, asm.R7),
				asm.And.Imm32(asm.R9, word(mask(prefix.Bits(), 4))),
				asm.JEq.Imm32(asm.R9, word(prefix.Addr().AsSlice()), refuseLabel),
			)
		}
	}
	return append(program, asm.Ja.Label(permitLabel))
}

// filterBind refuses to listen at Holdfast's own ports: commands go on while their server is stopped, and whoever has
// its port then is shown keys.
func filterBind(own []netip.AddrPort) asm.Instructions {
	program := asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1), load(asm.R8, addressPort)}
	for _, address := range own {
		program = append(program, asm.JEq.Imm32(asm.R8, port(address.Port()), refuseLabel))
	}
	return append(append(program, asm.Ja.Label(permitLabel)), verdicts()...)
}

// filterSix decides about IPv6, and about IPv4 in its clothes.
func filterSix(open []netip.AddrPort) asm.Instructions {
	program := asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1), load(asm.R8, addressPort)}
	for i, address := range open {
		if address.Addr().Unmap().Is4() {
			continue
		}
		next := fmt.Sprintf("six-%d", i)
		program = append(program, unlessWithin(netip.PrefixFrom(address.Addr(), 128), next)...)
		program = append(program, asm.JNE.Imm32(asm.R8, port(address.Port()), next), asm.Ja.Label(permitLabel))
		program = append(program, asm.Mov.Imm(asm.R9, 0).WithSymbol(next))
	}
	for i, prefix := range outbound.Machine() {
		if prefix.Addr().Is4() {
			continue
		}
		next := fmt.Sprintf("closed-%d", i)
		program = append(program, unlessWithin(prefix, next)...)
		program = append(program, asm.Ja.Label(refuseLabel))
		program = append(program, asm.Mov.Imm(asm.R9, 0).WithSymbol(next))
	}
	for i, mapped := range []string{"::ffff:0:0/96", "64:ff9b::/96"} {
		next := fmt.Sprintf("mapped-%d", i)
		program = append(program, unlessWithin(netip.MustParsePrefix(mapped), next)...)
		program = append(program, asm.Ja.Label("as-four"))
		program = append(program, asm.Mov.Imm(asm.R9, 0).WithSymbol(next))
	}
	program = append(program, asm.Ja.Label(permitLabel), load(asm.R7, addressSix+12).WithSymbol("as-four"))
	program = append(program, decideFour(open)...)
	return append(program, verdicts()...)
}

// unlessWithin jumps away from an IPv6 address that is not in the prefix.
func unlessWithin(prefix netip.Prefix, away string) asm.Instructions {
	var program asm.Instructions
	address, bits := prefix.Addr().As16(), mask(prefix.Bits(), 16)
	for at := 0; at < 16; at += 4 {
		if word(bits[at:]) == 0 {
			break
		}
		program = append(program,
			load(asm.R9, int16(addressSix+at)),
			asm.And.Imm32(asm.R9, word(bits[at:])),
			asm.JNE.Imm32(asm.R9, word(address[at:]), away),
		)
	}
	return program
}

// onlyKnownProtocols refuses sockets that send past the other hooks: Multipath TCP, SCTP.
func onlyKnownProtocols() asm.Instructions {
	program := asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1), load(asm.R7, sockProtocol)}
	for _, protocol := range []int32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6} {
		program = append(program, asm.JEq.Imm32(asm.R7, protocol, permitLabel))
	}
	return append(append(program, asm.Ja.Label(refuseLabel)), verdicts()...)
}

// word is four bytes of an address as the kernel's memory has them.
func word(bytes []byte) int32 { return int32(binary.NativeEndian.Uint32(bytes)) }

// port is a port in the network's order, in the low half of a word.
func port(number uint16) int32 {
	return int32(binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, number)))
}

func mask(bits, length int) []byte {
	all := make([]byte, length)
	for i := range bits {
		all[i/8] |= 0x80 >> (i % 8)
	}
	return all
}
