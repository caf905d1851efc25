/// The general categories of all code points, of Unicode 16.
///
/// A model was trained on what one library took for a letter, so the categories are data and not a
/// property of the toolchain: Swift's own tables are of another Unicode version and change with it,
/// and a run must give the same tokens after an upgrade. What a template asks about a character
/// (`isalpha` and its like) is still answered by Swift's. Measured against `tokenizers` 0.23.3 by
/// Scripts/tokenizers/characters.py, which writes this.
enum UnicodeCategories {
    /// The categories, in the order of the letters that stand for them in `runs`.
    static let names = """
        Cc Cf Cn Co Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs
        """
    static let letters = "ghijklmnopqrstuvwxyzGHIJKLMNO"

    /// From U+0000 on: the letter of a category and for how many code points it goes on, a
    /// hexadecimal number or nothing for one. Surrogates count as unassigned.
    static let runs = """
        g20OG3IG3HxG KGwG2saG2K3G2 o1aHGxJvJk1a HKxKg21OGI4 LGJLmzKh LJLKu2JkG2 Jumyu3Go17K
        o7k18Kk8okok okokokok okokokok okokokok okokokok okokokok okokokok okok2okok okokokok
        okok2okok okokokok okokokok okokokok okokokok okokokok oko2kokok3 o2koko2ko3k2
        o4ko2ko3k3o2k o2kokoko2k ok2oko2ko3k oko2k2mok3m4 onkonkon kokokoko kokokoko k2okokoko
        kokokoko kok2onkok o3kokokok okokokok okokokok okokokok okokokok okokokok okokokok
        okok7o2ko2k2 oko4kokok okok45mk1bl12J4 lcJel5J7lJlJ11 r70okoklJo ki2lk3Goi4J2 oGo3ioio2k
        o11io9k23ok2o3k3 okokokok okokokok okokokok5 okKoko2k2o33 k30okokoko kokokoko kokokoko
        kokokoko kokLr5q2ok okokokok okokokok okokokok okokokok okokokok okokokok okoko2kok
        okokokok ok2okokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok
        okokokok okokokok okokokok okio26i2lG6k29 Gwi2L2Iir2dw rGr2Gr2Gri8 m1bi4m4G2ibh6K3G2
        IG2L2rbGhG3m20 lmar15saG4m2rm63 Gmr7hLr6l2r2 Lr4m2sam3L2mGe ihmrm1er1bi2m59
        rbmiesam21r9l2L G3li2rI2m16r4l r9lr3lr5i2Gfi m19r3i2Gimbi5m18 Jm6ih2i5r9m29l
        r18hr20pm36rpr mp3r8p4rp2mr7 mar2G2saGlmfr p2im8i2m2i2m16i m7imi3m4i2rm p3r4i2p2i2p2rm
        i8pi4m2im3r2i2 sam2I2u6LImG ri2r2pim6i4m2 i2m16im7im2im2 im2i2rip3r2i4 r2i2r3i3ri7m4i
        mi7sar2m3rGia r2pim9im3im16 im7im2im5i2r mp3r5ir2pip2 ri2mifm2r2i2sa GIi7mr6irp2
        im8i2m2i2m16im7 im2im5i2rmp rpr4i2p2i2p2r i7r2pi4m2im3r2 i2saLmu6iarm im6i3m3im4i3m2
        imim2i3m2i3m3 i3mci4p2rp2i3p3 ip3ri2mi6pie sau3L6ILi5rp3 rm8im3im17im10 i2rmr3p4ir3i
        r4i7r2im3i2mi2 m2r2i2sai7Gu7L mrp2Gm8im3i m17imaim5i2rm prp5irp2ip2 r2i7p2i6m2im2r2
        i2saim2picr2p2 m9im3im29r2mp3 r4ip3ip3rmL i4m3pu7m3r2i2sa u9Lm6irp2im12 i3m18im9imi2m7
        i3ri4p3r3iri p8i6sai2p2Gicm30 rm2r7i4Im6lr8 GsaG2i25m2imi m5im18imimar m2r9mi2m5ili
        r7isai2m4i20mL3 GfLGL3r2L6saua LrLrLrHx Hxp2m8im24i4re pr5Gr2m5rbir24 iL8rL6iL2G5L4
        G2i25m2bp2r4pr6p r2p2r2msaG6m6p2 r2m4r3mp3m2p7m3 r4mdrp2r2p6rm psap3rL2o26io
        i5oi2k2bGlk3m149 im4i2m7imim4 i2m29im4i2m21im4 i2m7imim4i2mf im39im4i2m43i2r3
        G9u14i3m10Lai6o56i2 k6i2wm26cLGm11O m1aHxi3m4bG3t3m8 i7m12r3pi9m13r2p G2i9m12r2icmdim3
        ir2icm34r2pr7p8 rp2rbG3lG3Im ri2sai6uai6G6w G4r3hrsai6m23l m35i7m5r2m22rmi5
        m46iam1fir3p4r2p3 i4p2rp6r3i4Li3 G2sam1ei2m5ibm2ci4 m1ai6saui3L22m17r2 p2ri2G2m35prp
        r7irprp2r8p6 rai2rsai6sai6G7 lG6i2reqr10i31r4 pm2frpr5prp5 rp2m8iG2saG7La r9L9G3r2pm1epr4
        p2r2pr3m2sam2cr pr2p3rpr3p2i8 G4m24p8r8p2r2i3G5 sai3m3sam1el6G2k9 oki5o2bi2o3G8i8
        r3Grdpr7m4rm6 rm2pr2mi5k2cl3f kdlk22l25r40oko kokokoko kokokoko kokokoko kokokoko kokokoko
        kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko
        kokokoko kokokoko kokokoko kok9okoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko
        kokokoko kokokoko kokokoko kokokoko kokokoko kokok9o8k6i2 o6i2k8o8k8o8k6i2 o6i2k8ioioi
        oiok8o8kei2k8 n8k8n8k8n8k5ik2 o4nJkJ3k3ik2 o4nJ3k4i2k2o4i J3k8o5J3i2k3ik2 o4nJ2iObh5w6G2
        zyHz2yHzG8 MNh5OG9zyG4 v2G3KHxGbKG vGaOh5ihaul i2u6K3HxluaK3 Hxildi3I21ifrd q4rq3rcifL2oL4
        oL2ko3k2o3kL oL2Ko5L6oLo LoLo4Lko4k m4kL2k2o2K5ok4 LKL2kLu10t23o kt4uL2i4K5L5K2
        L4KL2KL2KL7K L1fK2L2KLKL1fK10c L8HxHxL14K2L7 HxL51KL1eK19L28K6 L48i16Lbi15u3cL4eu16Lb7
        KL9KL36K8L6fKLf8 HxHxHxHx HxHxHxu1eL2c K5HxK1fHxHx HxHxHxK10L100 K83HxHxHxH xHxHxHxH
        xHxHxHxK3f HxHxK20HxK102 L30K15L2K6L27i2L20i L69o30k30oko3k2o kokoko4ko k2ok6l2o3kok
        okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok
        okokokok okokokok2 L6okokr3ok i5G4uG2k26iki5 ki2m38i7lGier m17i9m7im7im7i m7im7im7im7i
        m7ir20G2zyzy G3zyGzyG9w G2wGzyG2zy HxHxHxHx G5lGaw2G4wGH GdL2G3HxHxH xHxwi22L1aiL59
        icLd6i1aL10OG3Ll mtHxHxHx HxHxL2HxH xHxHxwHx2 Lt9r4p2wl5L2t3 lmGL2im56i2r2 J2l2mwm5aGl3m
        i5m2bim5eiL2u4La m20L26i9Lm10L1fiua L1eu8LufL20uaL27uf L140m19c0L40m5215lm477i3L37
        i9m28l6G2m10clG3m10 sam2i14okoko kokokoko kokokoko kokokoko kokokoko kokokoko kmrq3GraGl
        okokokok okokokok okokokok okokl2r2m46ta r2G6i8J17l9J2ok okokokok okok3okok okokokok
        okokokok okokokok okokokok okokokok okokokok okokokok oklk8okok o2kokokok oklJ2okok
        mokok3oko kokokoko kokokoko ko5ko5koko kokokoko koko4koko2 ki2okikik okokokoi15
        l3okml2km7r m3rm4rm17p2r2p L4ri3u6L2ILi6 m34G4i8p2m32p10r2i8 G2sai6r12m6G3mG
        m2rsam1cr8G2m17rb p2ibGm1di3r3pm2f rp2r4p2r2p3Gdi lsai4G2m5rlm9 sam5im29r6p2r2p2
        r2i9m3rm8rpi2 sai2G4m10lm6L3m prpm32rmr3m2 r2m5r2mrmi18m2 lG2mbpr2p2G2m l2priam6i2m6i2
        m6i9m7im7ik2bJ l4k9lJ2i4k50m23p2 rp2rp2Gpri2 sai6m2ba4icm17i4m31i804
        j1900m16ei2m6ai26k7ick5 i5mrmaKmdim5 imim2im2im6c J11i10m16bxHL10m40i2 m36i7Li20mcIL3r10
        G7HxGi6r10Gw2 v2HxHxHxH xHxHxHxH xG2HxG4v3G3i G4wHxHxHx G3KwK3iGIG2 i4m5im87i2hiG3
        IG3HxGKGw G2saG2K3G2o1aHG xJvJk1aHKx KHxGHxG2ma lm2dl2m1fi3m6i2m6 i2m6i2m3i3I2KJ
        LI2iLK4L2iah3 L2i2mcim1aim13i m2imfi2mei22m7bi5 G3i4u2di3L9t35u4L11 u2L3iLdi3Li2fL2d
        ri82m1di3m31ifru1b i4m20u4i9m14tm8t i5m26r5i5m1eiGm24 i4m8Gt5i2ao28k28m4e
        i2sai6o24i4k24i4m28 i8m34ibGobiofi o7io2ikbikfi k7ik2i3m34icm137i9 m16iam8i18l6il2ai
        l9i45m6i2mim2ci m2i3mi2m17iGu8 m17L2u7m1fi8u9i30m13 im2i5u5m16u6i3G m1ai5Gi40m38i4u2m2
        u10i2u2emr3ir2i5 r4m4im3im1di2r3 i4ru9i7G9i7m1du2 Gm1du3i20m8Lm1cr2 i4u5G7i9m36i3G7m16
        i2u8m13i5u8m12i7G4 icu7i50m49i37o33idk33 i7u6m24r4i8sai6sa m4lmo16i3r5wl
        k16i8K2id0u1fim2ai r2wi2m2i10m3i37r4 m1duami8m16rbu4G5 i16m12r4G4i26m15u7i14
        m17i9prpm35rfG7 i4u14sarm2r2mi9 r3pm2dp3r4p2r2G2 hG4riahi2m19i7 sai6r3m24r5pr8i
        saG4mp2mi8m23r G2mi9r2pm30p3r9 p2m4G4r4Gprsa mGmG3iu14ibm12 im19p3r3p2rpr2 G6rm2ri3em7im
        im4imfimaGi6 m2frp3r8i5sai6r2 p2im8i2m2i2m16i m7im2im5ir2m p2rp4i2p2i2p3i2 mi6pi5m5p2i2r7
        i3r5ibmaimi2m im26imp3r6ip i2pip4ip2rp rmrmG2iG2i8 r2i1dm35p3r8p2r3p rm4G5saG2iGr
        m3i1em30p3r6prp4 r2pr2m2Gmi8sa ia6m2fp3r4i2p4r2p r2G17m4r2i22m30p3r8 p2rpr2G3mibsa
        i6Gdi13m2brprp2 r6prmGi6sai6 s14i1cm1bi2rprp2 r4pr5i4sau2G3L m7ib9m2cp3r9pr2G
        i64o20k20sau9icm8i2 mi2m8im2im18p6 ip2i2r2prmp mprG3i9sai46m8 i2m27p3r4i2r2p4r
        mGmpi1bmram28 r6pmr4G8ri8m r6p2r3m2erdpr2G3 mG5idm49i7Gaib6m21 Giesai6m9im25p r7ir6prmG5ia
        sau13i3G2m1ei2r16i pr7pr2pr2i49m7 im2im26r6i3ri r2ir7mri8sai6 m6im2im20p5ir2 ip2rprmi7sa
        i136m13r2p2G2i7r2m pmdim22p2r5i3p2 rprGdsari55m ifu15L8I4L11idGm39a i66t6fiG5ibmc4ia4cm61
        G2idm430h10rm6rfia mf9bi5m247i1ab9m1ercp3r3 sai6c6m239i7m1fisai4 G2m4fisai6m1ei2r5
        Giam30r7G5L4l4G Liasaiu7im15i5 m13i1b0l3m28l2G3saic6 o20k20u17G4i65m4bi4r mp37i7r4ldi40l2G
        lribp2iem17f8i8m4d6 i29mai22e7l4il7il2 im123ifmi1dm3i2m iem4i8m18ci904m6bi5md
        i3m9i7mai2Lr2G h4if5cLf0sai6L1b4i4cr2e i2r17i9L74i3cLf6iaL27 i2L3cp2r3L3p6h8r8
        L2r7L1er4L3di15L42r3 Li7au14icu14icL57i9 u19i87o1ak1ao1ak7ik12 o1ak1aoio2i2oi2
        o2i2o4io8k4ik ik7ikbo1ak1ao2i o4i2o8io7ik1ao2 io4io5ioi3o7 ik1ao1ak1ao1ak1ao1ak1a
        o1ak1ao1ak1ao1ak1ci2o19 Kk19Kk6o19Kk19K k6o19Kk19Kk6o19K k19Kk6o19Kk19Kk6
        oki2s32L200r37L4r32 L8rLerL2G5ifr5 irfi450kamk14i6k6 id5r7ir11i2r7ir2 ir5i5l3ei21ri70m2d
        i3r7l7i2sai4mL i140m1eri11m2cr4sai5 Ii1d0m1blr4said6m1e r2msai4Gi1e0m7i m4im2imfimc5i2
        u9r7i29o22k22r7li4 sai4G2i311u3bLu3I u4i4cu2dLufic2m4i m1bim2imi2mi maim4imimi6 mi4mimimi
        m3im2imi2mi mimimimi m2imi2m4im7i m4im4imimai m11i5m3im5im11i34 K2i10eL2ci4L64icLfi2
        LfiLfiL25iaudLa1 i38L1didL2ci4L9i7L2 ieL6i9aLfbJ5L2d8i4L11 i3Ldi3L77i4L5fi6Lc
        i4LifLci4L38i8La i6L28i8L1ei2Lci4L2 i3eL154icLei2Ldi3La i5L38i7Lfi2Lbi6L9
        i7L93iL5csai406ma6e0i20 m103ai6mdei2m1682iem1d31if m26ei9a2m21ei5e2m134bi5m1060iadc51
        hi1eh60i80rf0ife10jfffei2 jfffei2
        """
}
